// Package release tests what a release is made with, as far as that can be tested without
// making one: the release's configuration names things that exist, images are built
// alike in every way, and workflows have no right and no stranger that they do not need.
// There is nothing to import.
package release
