package timeline_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/timeline"
	"github.com/corewire/kick/kick/timeline/ui"
)

const (
	laneCount = `document.querySelectorAll("#space .lane").length`
	logCount  = `document.querySelector("#log-title").textContent`
	chosen    = `(document.querySelector("#space .selected .name") || {}).textContent + ""`
	hash      = `decodeURIComponent(location.hash)`
	connected = `document.querySelector("#connection").textContent`
)

// press sends keys to whatever has the focus.
func (b *browser) press(keys string, mod ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, mod...))
}

// TestPage goes through the page as a person does.
func TestPage(t *testing.T) {
	b, facts, s := watched(t, "#theme=light")
	b.see(connected, "Live")
	b.shoot("light")
	steps := []struct {
		name string
		test func(*browser)
	}{
		{"filter", filters}, {"keyboard", keyboard}, {"zoom", zooms}, {"address", address}, {"themes", themes}, {"graph", graph}, {"log", logs},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			b.t = t
			b.eval(`location.hash = "#theme=light"`)
			b.see(laneCount, "6")
			step.test(b)
		})
	}
	t.Run("trail", func(t *testing.T) { b.t = t; trails(b, facts, s) })
	b.t = t
	t.Run("a change is seen without a reload", func(t *testing.T) {
		b.t = t
		b.eval(`location.hash = "#theme=light"`)
		state := `[...document.querySelectorAll("#space .lane")].find(r => r.querySelector(".name").textContent === "web").querySelector(".word").textContent`
		b.see(state, "waiting")
		facts.change(webKey, func(one *gather.Standing) {
			r := *one.Request
			r.Status.Phase, r.Status.Reason, r.Status.Message = request.Executing, request.Restarting, "Restarted just now; watching the rollout."
			r.Status.RolloutStart = noon
			one.Request = &r
		})
		s.Hub.Changed(webKey)
		b.see(state, "rolling")
	})
	b.t = t
}

func filters(b *browser) {
	b.press("/")
	b.see(`document.activeElement.id`, "filter")
	b.eval(`document.activeElement.select(); 0`) // a driver types what the page has taken for itself
	b.press("web")
	b.see(laneCount, "1")
	b.see(logCount, "Log · 3")
	b.see(hash, "#q=web&theme=light")
	b.see(`document.querySelector("#count").textContent`, "1 of 6 lanes")
	b.press(kb.Escape)
	b.see(laneCount, "6")
	b.eval(`location.hash = "#theme=light&q=infra rolling"`)
	b.see(laneCount, "1")
	b.eval(`location.hash = "#theme=light&q=nothing-is-called-so"`)
	b.see(`document.querySelector("#space").textContent`, "No lane matches the filter.")
}

func keyboard(b *browser) {
	b.eval(`document.querySelector("#lanes").focus(); 0`)
	b.press(kb.ArrowDown)
	b.see(chosen, "infra")
	b.press(kb.ArrowDown + kb.ArrowDown)
	b.see(chosen, "exporter")
	b.see(`document.getElementById(document.querySelector("#lanes").getAttribute("aria-activedescendant")).getAttribute("aria-selected")`, "true")
	b.press(kb.ArrowRight)
	b.see(`document.querySelector("#detail .event p").textContent.startsWith("ConfigMap infra/targets changed ")`, "true")
	b.press(kb.ArrowRight + kb.ArrowRight)
	b.see(`document.querySelector("#detail .event .reason").textContent`, "DryRun")
	b.press(kb.End)
	b.see(chosen, "web")
	b.see(`document.querySelector("#detail .why").textContent.startsWith("The policy's schedule is shut")`, "true")
	b.press(kb.Escape)
	b.see(`document.querySelector("#detail h2").textContent`, "Overview")
	b.press(kb.Home + kb.Enter)
	b.see(laneCount, "3")
	b.press(kb.ArrowRight)
	b.see(laneCount, "6")
	b.press("?")
	b.see(`document.querySelector("#help-dialog").open`, "true")
	b.shoot("help")
	b.press(kb.Escape)
	b.see(`document.querySelector("#help-dialog").open`, "false")
}

func zooms(b *browser) {
	width := `Math.round((new Date(document.querySelector("#to").value) - new Date(document.querySelector("#from").value)) / 60000)`
	b.see(width, "1469")
	b.eval(`document.querySelectorAll("#presets button")[1].click()`)
	b.see(width, "61")
	b.press("+")
	b.see(`location.hash.includes("range=")`, "true")
	b.see(width, "31")
	b.press("-")
	b.see(width, "61")
	b.do(chromedp.DragAndDropXY(500, 110, 700, 110))
	b.see(`(m => m > 13 && m < 17)(`+width+`)`, "true") // 200 of 800 pixels of an hour
	b.press("0")
	b.see(`document.querySelector("#presets button[aria-pressed=true]").textContent`, "all")
	b.shoot("all")
}

func address(b *browser) {
	b.eval(`location.hash = "#theme=light&range=6h&lane=shop/StatefulSet/cart&zone=local&q=shop"`)
	b.see(chosen, "cart")
	b.see(laneCount, "3")
	b.see(`document.querySelector("#zone").textContent`, "Local")
	b.see(`document.querySelector("#presets button[aria-pressed=true]").textContent`, "6h")
	b.do(chromedp.Reload())
	b.see(chosen, "cart")
	b.see(laneCount, "3")
	b.see(`document.querySelectorAll("#detail .sources li").length`, "1")
	b.shoot("chosen")
}

// trails: the page says of each rule what the operator says of it, and says it anew when
// something changes.
func trails(b *browser, facts *shelf, s *timeline.Server) {
	said := func() string { // a mark between outcome, rule and message keeps them apart
		return b.eval(`[...document.querySelectorAll("#detail .trail li")].map(l => [...l.children].map(c => c.textContent.trim()).join("|")).join("\n")`)
	}
	want := func() string {
		snap, _ := facts.Workload(b.ctx, webKey, noon, gather.FromCache)
		v := decide.Foresee(snap, noon)
		var lines []string
		for _, l := range explain.Trail(&v) {
			lines = append(lines, fmt.Sprintf("%s|%s:|%s", l.Outcome, l.Rule, l.Message))
		}
		return strings.Join(lines, "\n")
	}
	b.eval(`location.hash = "#theme=light&lane=shop/Deployment/web"`)
	b.see(`document.querySelectorAll("#detail .trail li").length > 9`, "true")
	if got := said(); got != want() || !strings.Contains(got, "pass|target:|Deployment shop/web exists.") {
		b.t.Errorf("the page says\n%s\nthe operator says\n%s", got, want())
	}
	b.shoot("trail")
	audit(b, "trail")
	suspend := func(yes bool) {
		facts.change(webKey, func(one *gather.Standing) {
			one.Policies = slices.Clone(one.Policies)
			one.Policies[0].Suspended = yes
		})
		s.Hub.Changed(webKey)
	}
	suspend(true)
	b.see(`Boolean(document.querySelector("#detail .trail .wait")?.textContent.includes("is suspended"))`, "true")
	suspend(false)
}

func themes(b *browser) {
	paper := `getComputedStyle(document.querySelector("header")).backgroundColor`
	b.see(paper, "rgb(255, 255, 255)")
	audit(b, "light")
	b.eval(`location.hash = "#theme=dark&range=6h&lane=shop/Deployment/web"`)
	b.see(paper, "rgb(20, 22, 26)")
	b.see(`document.querySelectorAll("#detail .sources li").length`, "2")
	b.shoot("dark")
	audit(b, "dark")
}

func graph(b *browser) {
	b.eval(`location.hash = "#theme=light&view=graph&ns=shop"`)
	b.see(`document.querySelectorAll("#graph .node").length`, "8")
	b.see(`document.querySelectorAll("#graph .edges path").length`, "7")
	b.eval(`document.getElementById("node-Secret/db").focus()`)
	b.see(`document.querySelectorAll("#graph .edges path.lit").length`, "2")
	b.shoot("graph")
	audit(b, "graph")
	b.eval(`document.getElementById("node-Deployment/web").click()`)
	b.see(`document.querySelector("#detail h2").textContent.startsWith("Deployment web")`, "true")
	b.press("v")
	b.see(`document.querySelector("#timeline").hidden`, "false")
	b.eval(`location.hash = "#theme=dark&view=graph&ns=shop"`)
	b.see(`getComputedStyle(document.querySelector("header")).backgroundColor`, "rgb(20, 22, 26)")
	b.see(`document.querySelectorAll("#graph .node").length`, "8")
	b.shoot("graph-dark")
	audit(b, "graph, dark")
}

// logs: the first event of a day names the day and its reason, and a short log leaves its
// place to what is said of the lane.
func logs(b *browser) {
	b.see(`document.querySelector("#log .item .reason").textContent`, "Restarted")
	b.see(`document.querySelector("#log .item time").textContent.replace(/\d/g, "9")`, "9999-99-99 99:99:99")
	b.see(`document.querySelectorAll("#log .item time")[1].textContent.replace(/\d/g, "9")`, "99:99:99")
	b.eval(`location.hash = "#theme=light&lane=shop/Deployment/web"`)
	b.see(logCount, "Log of web · 3")
	b.see(`document.querySelectorAll("#detail .trail li").length > 9`, "true")
	b.see(`(l => l.clientHeight <= l.scrollHeight && l.clientHeight >= document.querySelector("#log-space").clientHeight)(document.querySelector("#log"))`, "true")
	b.see(`(d => d.scrollHeight <= d.clientHeight || document.querySelector("#log").clientHeight < 200)(document.querySelector("#detail"))`, "true")
}

// crowded is a page of 5,000 workloads.
func crowded(t testing.TB) *browser {
	t.Helper()
	chromium(t)
	facts := &shelf{}
	for i := range 5000 {
		one := reads(managed(workload("Deployment", fmt.Sprintf("team-%02d", i/100), fmt.Sprintf("service-%04d", i)), "all"), "Secret", "db", before(timeOf(i)))
		if i%7 == 0 {
			one = asked(one, request.WaitingForGate, before(timeOf(i)), decide.Step{Reason: request.PolicySuspended, Object: one.Policies[0].ID})
		}
		facts.all = append(facts.all, one)
	}
	s, h := served(t, facts, timeline.Local{})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(s.Hub.Close)
	b := open(t, server.URL+"/timeline/ui#theme=light", 1440, 860)
	b.see(`document.querySelector("#count").textContent`, "5000 lanes")
	return b
}

// TestManyWorkloads: what is in the document does not grow with what is in the cluster.
func TestManyWorkloads(t *testing.T) {
	b := crowded(t)
	nodes := func() {
		t.Helper()
		b.see(`document.querySelectorAll("*").length < 1500`, "true")
	}
	nodes()
	b.shoot("many")
	slides(b)
	b.eval(`document.querySelector("#lanes").scrollTop = 1e9; 0`)
	b.see(`[...document.querySelectorAll("#space .lane .name")].at(-1).textContent`, "service-4999")
	nodes()
	b.eval(`location.hash = "#q=service-25"`)
	b.see(`document.querySelector("#count").textContent`, "100 of 5000 lanes")
	b.eval(`location.hash = "#view=graph&ns=team-07"`)
	b.see(`document.querySelectorAll("#graph .node").length`, "102")
	nodes()
}

// slides: a scroll by ten rows makes ten rows and nothing else, of the log and of the ruler too,
// and those that stay in sight stay in order.
func slides(b *browser) {
	b.t.Helper()
	b.eval(`(() => {
  window.made = {};
  for (const id of ["space", "log-space", "ruler"]) {
    window.made[id] = 0;
    new MutationObserver(all => all.forEach(m => window.made[id] += m.addedNodes.length)).observe(document.getElementById(id), { childList: true, subtree: true });
  }
  document.querySelector("#zoom-in").click(); // all is drawn once, for a range that does not follow now
})()`)
	b.see(`made.ruler > 0`, "true")
	b.eval(`Object.keys(made).forEach(id => made[id] = 0); document.querySelector("#lanes").scrollTop = 300; 0`)
	b.see(`made.space`, "10")
	b.eval(`document.querySelector("#lanes").scrollTop = 600; 0`)
	b.see(`made.space`, "20")
	b.eval(`document.querySelector("#lanes").scrollTop = 300; 0`)
	b.see(`made.space`, "30")
	b.see(`made.ruler + " " + made["log-space"]`, "0 0")
	b.see(`[...document.querySelectorAll("#space .row")].every((r, i, all) => i === 0 || Number(r.id.slice(4)) === Number(all[i - 1].id.slice(4)) + 1)`, "true")
}

// TestTrace: the page that a simulation is written to needs no server, and its own policy
// lets its own script run.
func TestTrace(t *testing.T) {
	chromium(t)
	file := filepath.Join(t.TempDir(), "trace.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	line := func(seconds float64, actor, object, text string) map[string]any {
		return map[string]any{"scenario": "one", "t": seconds, "at": noon.Format("2006-01-02T15:04:05Z"), "actor": actor, "object": object, "text": text}
	}
	err = ui.Page(out, "a <trace>", map[string]any{"build": "4c1d2e7", "lines": []any{
		line(0, "world", "Pod shop/web-1", "pod shop/web-1 runs Secret db=a"),
		line(10, "user", "Secret shop/db", "Secret shop/db: content a -> b </script><b>"),
		line(10.001, "kick", "KickRequest shop/deployment-web", "KickRequest shop/deployment-web: Pending -> WaitingForGate (Settling)"),
		line(11.5, "kick", "Deployment shop/web", "Deployment shop/web: restarted"),
		line(12, "world", "Pod shop/web-2", "pod shop/web-2 runs Secret db=b"),
		line(13, "fault", "", "crash at update KickRequest"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	b := open(t, "file://"+file+"#theme=light", 1440, 860)
	b.see(laneCount, "6")
	b.see(`document.title`, "a <trace>")
	b.see(logCount, "Log · 6")
	b.see(`document.querySelectorAll("#space .band.loaded").length`, "2")
	b.see(`document.querySelectorAll("#space .band.waiting").length`, "1")
	b.shoot("trace")
	audit(b, "trace")
	b.eval(`document.querySelector("#option-even").click()`)
	b.see(`[...document.querySelectorAll("#log time")].at(0).textContent`, "00:00:13.000")
	if text := b.eval(`document.body.textContent`); !strings.Contains(text, "</script><b>") {
		t.Error("a line that looks like markup is not shown as it is")
	}
}

// timeOf spreads changes over a day.
func timeOf(i int) time.Duration { return time.Duration(i*17%86400) * time.Second }
