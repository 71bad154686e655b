// Package ui holds the page that shows a timeline: plain files, no build step, nothing
// from anywhere else. A server hands them out one by one; Page puts them all into one
// document that needs no server.
package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
)

//go:embed *.html *.css *.js
var files embed.FS

// Policy is the Content-Security-Policy of the served page: its own files, its own server.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// modules are the scripts, each after what it imports.
var modules = []string{"format.js", "board.js", "marks.js", "address.js", "lanes.js", "ruler.js", "log.js", "detail.js", "graph.js", "live.js", "trace.js", "keys.js", "main.js"}

var types = map[string]string{"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}

// Handler serves index.html, and the other files under {file} of the route's pattern.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("file")
		if name == "" {
			name = "index.html"
		}
		body, err := files.ReadFile(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		sum := sha256.Sum256(body)
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "no-cache") // asked for again, answered by the tag
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", types[name[strings.LastIndex(name, ".")+1:]])
		_, _ = w.Write(body) // nobody listens any more
	})
}

// What the document refers to, and what a module says to others.
const (
	styleTag  = `<link rel="stylesheet" href="ui/style.css">`
	scriptTag = `<script type="module" src="ui/main.js"></script>`
)

var (
	imports = regexp.MustCompile(`(?m)^import .*;\n`)
	exports = regexp.MustCompile(`(?m)^export `)
)

// Page writes one document that needs nothing else and shows a trace: data, as the page's
// module trace.js reads it.
func Page(out io.Writer, title string, data any) error {
	index, err := files.ReadFile("index.html")
	if err != nil {
		return err
	}
	style, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	var script bytes.Buffer
	for _, name := range modules {
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		_, _ = script.Write(exports.ReplaceAll(imports.ReplaceAll(body, nil), nil))
	}
	trace, err := json.Marshal(data) // it escapes what would end the element
	if err != nil {
		return err
	}
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
		digest(script.Bytes()), digest(style))
	_, err = strings.NewReplacer(
		"<title>KICK timeline</title>", "<title>"+html.EscapeString(title)+"</title>\n<meta http-equiv=\"Content-Security-Policy\" content=\""+policy+"\">",
		styleTag, "<style>"+string(style)+"</style>",
		scriptTag, `<script type="application/json" id="trace">`+string(trace)+"</script>\n<script type=\"module\">"+script.String()+"</script>",
	).WriteString(out, string(index))
	return err
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
