package timeline_test

import (
	"context"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// named are the roles that say nothing without a name.
var named = []string{"button", "textbox", "searchbox", "combobox", "checkbox", "treegrid", "listbox", "option", "row", "rowheader", "dialog", "group", "region", "complementary", "list", "link", "Date", "DateTime", "InputTime"}

// contrasts lists texts that stand out too little from what is behind them: less than 4.5
// to 1, as WCAG 2 asks of text of this size.
const contrasts = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = c => c.slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = n => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255, 255]; };
  const out = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t; t = walk.nextNode();) {
    const n = t.parentElement;
    if (!t.data.trim() || /^(SCRIPT|STYLE)$/.test(n.tagName) || n.closest(".hidden") || !n.checkVisibility()) continue;
    const style = getComputedStyle(n), ink = rgb(n instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(n))].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) out.add(n.tagName + "." + (n.getAttribute("class") ?? "") + " " + t.data.trim().slice(0, 30) + " " + ratio.toFixed(2));
  }
  return [...out].join("; ");
})()`

// audit looks at a page as somebody who does not see it, or not well.
func audit(b *browser, what string) {
	b.t.Helper()
	auditOf(b, what, map[string]int{"main": 1, "banner": 1, "complementary": 1, "listbox": 1})
}

// auditOf looks at a page that has so many of each role.
func auditOf(b *browser, what string, want map[string]int) {
	b.t.Helper()
	b.see(`document.getAnimations().length`, "0") // a colour on its way to another has neither's contrast
	tree, err := chromedp.Run(b.ctx, func(ctx context.Context, tab *chromedp.Target) ([]*accessibility.Node, error) {
		got, err := cdp.Call(ctx, tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return got.Nodes, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	roles := map[string]int{}
	for _, n := range tree {
		if n.Ignored || n.Role == nil {
			continue
		}
		role, name := text(n.Role), text(n.Name)
		roles[role]++
		if slices.Contains(named, role) && strings.TrimSpace(name) == "" {
			b.t.Errorf("%s: a %s has no name", what, role)
		}
	}
	for role, count := range want {
		if roles[role] != count {
			b.t.Errorf("%s: got %d of role %s, want %d", what, roles[role], role, count)
		}
	}
	if roles["heading"] == 0 || roles["button"] == 0 {
		b.t.Errorf("%s: no heading or no button: %v", what, roles)
	}
	if faint := b.eval(contrasts); faint != "" {
		b.t.Errorf("%s: too little contrast: %s", what, faint)
	}
	if twice := b.eval(`(ids => ids.filter((id, i) => ids.indexOf(id) !== i).join())([...document.querySelectorAll("[id]")].map(n => n.id))`); twice != "" {
		b.t.Errorf("%s: ids that stand twice: %s", what, twice)
	}
	if script, err := axeCore(); err == nil { // TestAxe says where it cannot be had
		axe(b, what, script)
	}
}

// text is the value of a property of the tree, which comes as JSON.
func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}
