package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/corewire/kick/sim/run"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes all results as a JUnit test suite.
func JUnit(out io.Writer, results []run.Result, elapsed time.Duration) error {
	suite := junitSuite{Name: "kick-sim", Tests: len(results), Time: seconds(elapsed)}
	for _, r := range results {
		c := junitCase{Class: "kick-sim", Name: r.Scenario.Name, File: r.Scenario.At.File, Time: seconds(r.Wall)}
		if !r.OK() {
			suite.Failures++
			c.Failure = &junitFailure{Message: r.Failures[0].Message, Type: r.Failures[0].Law, Text: failureText(r)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

func failureText(r run.Result) string {
	var lines []string
	for _, f := range r.Failures {
		lines = append(lines, f.Law+": "+f.Message)
	}
	if r.Trail != nil {
		lines = append(lines, Explanation(r)...)
	}
	return strings.Join(lines, "\n")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
