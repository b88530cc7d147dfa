// What a pointer does to a chart: a click moves the cursor or follows a message, a drag moves the view, a drag along
// the times zooms to them, the wheel zooms where it points.

function listen(chart) {
  let drag = null;
  const place = (e) => {
    const r = chart.svg.getBoundingClientRect();
    return {
      x: ((e.clientX - r.left) * chart.svg.viewBox.baseVal.width) / r.width,
      y: ((e.clientY - r.top) * chart.height) / r.height,
    };
  };
  chart.svg.addEventListener("pointerdown", (e) => {
    if (e.button || e.target.closest("text, .badge, .grip")) return; // text can be selected, numbers are buttons
    const { x, y } = place(e);
    if (x < chart.gutter) return;
    drag = { x, y, axis: y < headRoom, from: chart.view.from, to: chart.view.to, x1: x };
    chart.svg.setPointerCapture(e.pointerId);
  });
  chart.svg.addEventListener("pointermove", (e) => {
    const p = place(e);
    if (!drag) return chart.on.hover(chart, p.x < chart.gutter ? null : chart.moment(p.x), p, e);
    drag.x1 = p.x;
    if (Math.abs(p.x - drag.x) < 4) return;
    drag.moved = true;
    if (drag.axis) chart.on.hover(chart, chart.moment(p.x), p, e);
    else chart.on.pan(drag, (drag.x - p.x) / (chart.right - chart.left));
  });
  const stop = (e) => {
    if (!drag) return;
    const { x, x1, y, moved, axis } = drag;
    drag = null;
    if (e.type === "pointercancel") return;
    if (moved && axis) chart.on.zoomTo(chart.moment(Math.min(x, x1)), chart.moment(Math.max(x, x1)));
    else if (!moved) chart.on.click(chart, x, y);
  };
  chart.svg.addEventListener("pointerup", stop);
  chart.svg.addEventListener("pointercancel", stop);
  chart.svg.addEventListener("pointerleave", () => chart.on.hover(chart, null));
  chart.svg.addEventListener("dblclick", (e) => chart.on.zoom(0.4, chart.moment(place(e).x)));
  chart.svg.addEventListener(
    "wheel",
    (e) => {
      const { x } = place(e);
      if (x < chart.gutter) return;
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        e.preventDefault();
        return chart.on.pan(chart.view, e.deltaX / (chart.right - chart.left));
      }
      if (!(e.ctrlKey || e.metaKey || e.altKey || document.activeElement === chart.svg)) return; // the page scrolls
      e.preventDefault();
      chart.on.zoom(1.0015 ** clamp(e.deltaY, -300, 300), chart.moment(x));
    },
    { passive: false },
  );
}

// messageAt is the message whose line is closest to a place, if it is close.
function messageAt(chart, x, y) {
  let best = null,
    least = 7;
  for (const l of chart.lines) {
    const dx = l.x2 - l.x1,
      dy = l.y2 - l.y1;
    const along = clamp(((x - l.x1) * dx + (y - l.y1) * dy) / (dx * dx + dy * dy || 1), 0, 1);
    const far = Math.hypot(x - l.x1 - along * dx, y - l.y1 - along * dy);
    if (far < least) [best, least] = [l.m, far];
  }
  return best;
}
