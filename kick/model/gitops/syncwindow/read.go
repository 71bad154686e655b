package syncwindow

import "github.com/corewire/kick/kick/model/gitops"

// Read reads a list of windows as an AppProject holds it. Fields that loosen a window
// for other syncs than automated ones are left out.
func Read(project *gitops.Fields, path ...string) []Window {
	var all []Window
	project.Each(func(f *gitops.Fields) {
		all = append(all, Window{
			Where:        f.Where(),
			Kind:         f.String("kind"),
			Schedule:     f.String("schedule"),
			Duration:     f.String("duration"),
			TimeZone:     f.String("timeZone"),
			Applications: f.Strings("applications"),
			Clusters:     f.Strings("clusters"),
			Namespaces:   f.Strings("namespaces"),
			And:          f.Bool("andOperator"),
		})
	}, path...)
	return all
}
