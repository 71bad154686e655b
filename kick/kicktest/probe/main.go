// Command probe is a container that reports what it loaded: once, when it starts, it
// prints digests of its environment and of the files below the named folders, as one
// line of JSON. Then it stays until it is told to end, or to crash.
//
//	probe [--listen ADDR] [--once] [--sleep D] [--for NAME] [FOLDER|FILE...]
//
// POST /crash on ADDR ends it with exit code 1, as a crash would.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", "", "address that takes the order to crash")
	once := flag.Bool("once", false, "end after the report, as an init container does")
	sleep := flag.Duration("sleep", 0, "how long to wait before the report")
	flag.String("for", "", "whose place it takes: says nothing to it, but tells two templates apart")
	flag.Parse()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	time.Sleep(*sleep)
	if err := report(os.Stdout, os.Environ(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
	if *once {
		return
	}
	if *listen != "" {
		http.HandleFunc("POST /crash", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			// The answer goes out first: whoever asked wants to know that it was heard.
			time.AfterFunc(100*time.Millisecond, func() { os.Exit(1) })
		})
		go func() {
			fmt.Fprintln(os.Stderr, "probe:", http.ListenAndServe(*listen, nil))
			os.Exit(1)
		}()
	}
	<-ended
}

// report prints the digests of all variables and of all files below the paths. A
// path that is not there has no files: its source may be optional.
func report(out io.Writer, environ, paths []string) error {
	env, files := map[string]string{}, map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = digest([]byte(value))
	}
	for _, path := range paths {
		if err := walk(path, files); err != nil {
			return err
		}
	}
	return json.NewEncoder(out).Encode(map[string]any{"env": env, "files": files})
}

// walk reads the files below a path. The kubelet keeps those of a volume in a folder
// whose name begins with two dots, and links to them.
func walk(path string, files map[string]string) error {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		content, err := os.ReadFile(path)
		files[path] = digest(content)
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		if err := walk(filepath.Join(path, entry.Name()), files); err != nil && !os.IsPermission(err) {
			return err
		}
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
