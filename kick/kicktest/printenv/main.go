// Command printenv shows what a container really loaded: it prints the named
// environment variables and files once, when it starts, and then stays until it is
// told to end. With --listen it also serves what it would print at that moment.
//
//	printenv [--listen ADDR] NAME... /path...
//	printenv pause
//
// As "pause" it prints nothing: the container that holds a pod's namespaces.
package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	listen := flag.String("listen", "", "address to serve on")
	flag.Parse()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	if flag.Arg(0) != "pause" {
		show(os.Stdout, flag.Args())
	}
	if *listen != "" {
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { show(w, flag.Args()) })
		go func() {
			fmt.Fprintln(os.Stderr, http.ListenAndServe(*listen, handler))
			os.Exit(1)
		}()
	}
	<-ended
}

// show prints one line per name: NAME=value, /path=content.
func show(out io.Writer, names []string) {
	for _, name := range names {
		value, found := os.LookupEnv(name)
		if strings.HasPrefix(name, "/") {
			content, err := os.ReadFile(name)
			value, found = string(content), err == nil
		}
		if !found {
			value = "(absent)"
		}
		_, _ = fmt.Fprintf(out, "%s=%s\n", name, value)
	}
}
