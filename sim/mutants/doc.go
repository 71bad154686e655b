// Command mutants proves the simulator: it plants bugs into the operator and
// measures how long kick-sim takes to find each of them without a hint.
//
//	go run ./sim/mutants                  all plants, 120s each at most
//	go run ./sim/mutants --only P07,P14   some of them
//	go run ./sim/mutants --seeds-of 5     each five times, from other seeds; medians
//	go run ./sim/mutants --scenarios      which plants `kick-sim run scenarios/` catches
//	go run ./sim/mutants --check          every patch applies and compiles
//	go run ./sim/mutants --canary 42      one plant, drawn by the number, must be found
//	go run ./sim/mutants --score          how many small changes of the decisions go unnoticed
//	go run ./sim/mutants --score --only freshness --for 0   of one package, by its unit tests alone
//
// A plant is a patch in this folder (see README.md). It is laid over the code with
// `go build -overlay`, so the tree never holds a planted bug. Plants whose name
// begins with N are neutral: nothing may be found in them.
package main
