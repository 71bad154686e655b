package internal

// ModulePath is what testing.MainStart asks for since Go 1.26; chainsaw v0.2.12
// is older than that. Laid over the vendored sources when chainsaw is built.
func (*TestDeps) ModulePath() string { return "" }
