// Package explore runs very many schedules of simulated clusters, on all cores, and
// finds those that break a law.
//
// A Schedule names one run completely: the world, what happens in it, and every
// answer the world leaves open. Campaign makes schedules after a profile and hands
// out what broke in the order of the schedules, whatever the number of cores:
//
//	campaign := explore.Campaign{Options: run.Options{NewOperator: engine.New}, Seeds: 10000}
//	summary := campaign.Run(ctx, func(f explore.Finding) { ... })
//
// Runner runs single schedules, for replay and for shrinking.
package explore
