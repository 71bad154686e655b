// Package cli is the kubectl plugin, kubectl kick. It asks the operator's own reading
// (gather) and judgement (model/decide) and says it in the operator's own sentences
// (explain), so that it tells what the operator would do, and why not. Most commands only
// read; suspend, resume and now make one write, which they name.
//
// Data goes to standard output, everything else to standard error.
package cli
