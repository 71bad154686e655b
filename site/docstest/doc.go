// Package docstest holds the pages to their word. The commands of the quickstart and of
// the troubleshooting guide are run, as they stand on the page, by a shell against a real
// control plane with the operator's and the plugin's own binaries, and what the page says
// they print is compared with what they print. Every manifest of every page is sent to an
// API server that has the CRDs. Generated pages are held against their generator, and the
// site is built where hugo is installed. There is nothing to import.
package docstest
