package timeline_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// BenchmarkScroll measures how long a frame takes while 5,000 workloads are scrolled
// through at ten rows a frame: at 60 frames a second there are 16.7 ms for one. Without a
// graphics card the processors paint as well; how busy the page's own thread was is
// measured apart from that, and so is a frame in which nothing happens.
func BenchmarkScroll(bench *testing.B) {
	b := crowded(bench)
	const count = 500
	idle, _ := b.frames(count, `0`)
	scroll, busy := b.frames(count, `document.querySelector("#lanes").scrollTop += 300`)
	log, _ := b.frames(count, `document.querySelector("#log").scrollTop += 300`)
	_, paint := b.frames(count/5, `document.querySelectorAll("#presets button")[frames.length % 2].click()`)
	for bench.Loop() { // one pass is the measurement
	}
	for name, of := range map[string][3]float64{"idle": idle, "scroll": scroll, "log": log} {
		for i, part := range []string{"p50", "p99", "max"} {
			bench.ReportMetric(of[i], "ms/"+name+"-"+part)
		}
	}
	bench.ReportMetric(busy, "ms/scroll-busy")
	bench.ReportMetric(paint, "ms/redraw-busy")
}

// frames does something in each of some frames, and says how long they took, half of them,
// 99 of 100 and the longest, and how long the page's thread was busy with one.
func (b *browser) frames(count int, what string) (took [3]float64, busy float64) {
	b.t.Helper()
	before := b.busy()
	b.eval(`(() => {
  const frames = [];
  let last = performance.now();
  window.took = "";
  document.querySelector("#lanes").scrollTop = document.querySelector("#log").scrollTop = 0;
  const step = now => {
    frames.push(now - last);
    last = now;
    ` + what + `;
    if (frames.length <= ` + strconv.Itoa(count) + `) return requestAnimationFrame(step);
    frames.shift();
    frames.sort((a, b) => a - b);
    window.took = [frames[frames.length >> 1], frames[Math.floor(frames.length * .99)], frames.at(-1)].map(f => f.toFixed(1)).join(" ");
  };
  requestAnimationFrame(step);
  return 0;
})()`)
	b.see(`window.took !== ""`, "true")
	if _, err := fmt.Sscan(b.eval(`window.took`), &took[0], &took[1], &took[2]); err != nil {
		b.t.Fatal(err)
	}
	return took, (b.busy() - before) / float64(count)
}

// busy is for how many milliseconds the page's thread has worked.
func (b *browser) busy() float64 {
	b.t.Helper()
	var ms float64
	b.do(func(ctx context.Context, tab *chromedp.Target) (void, error) {
		if _, err := cdp.Call(ctx, tab, performance.Enable, performance.EnableParams{}); err != nil {
			return void{}, err
		}
		got, err := cdp.Call(ctx, tab, performance.GetMetrics, cdp.Empty{})
		for _, m := range got.Metrics {
			if m.Name == "TaskDuration" {
				ms = m.Value * 1000
			}
		}
		return void{}, err
	})
	return ms
}
