// Package charttest tests the chart of KICK with helm and a real API server: what it
// renders, what its values refuse, that what it renders is admitted, that the cage lets
// nothing through but a restart, and that the operator works with the rights and within
// the cage that it brings. There is nothing to import.
package charttest
