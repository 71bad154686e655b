// Package graph draws how the operator hangs together: which controller is woken
// by, reads and writes which kind of object.
//
// What wakes a controller comes from the wiring list; what it reads and writes was
// recorded while scenarios ran, so the drawing shows what the code does, not what
// somebody believes. From both follow the hot spots: the places where operators
// break most often. A read of a kind that wakes nobody is one of them, and a test
// keeps the list of those that are meant.
//
// The JSON form is the one that kamera's "inspect" reads.
package graph
