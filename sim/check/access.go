package check

// Access is a right that KICK needs: one call it makes, reads included.
type Access struct {
	Verb            string // get, list, watch, create, update, patch, delete
	Group, Resource string // apps, deployments
	Sub             string // "" or "status"
	Namespace       string // empty: a list or watch of all namespaces
}
