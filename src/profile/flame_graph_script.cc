#include "profile/flame_graph_script.h"

namespace wf::profile {

const char* const kFlameGraphStyle = R"css(
svg { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.ground { fill: #fff; }
#title { font: bold 15px system-ui, sans-serif; }
.sub { font: 11px system-ui, sans-serif; fill: #444; }
.f { cursor: pointer; outline: none; }
.f text { pointer-events: none; }
.f rect { stroke: #fff; stroke-width: 0.5; }
.f:hover rect, .f:focus rect { stroke: #000; stroke-width: 1; }
.f.hidden { display: none; }
.f.outer { opacity: 0.5; }
.f.match rect { fill: #d946ef; }
#details { font: 12px system-ui, sans-serif; }
.control { display: none; cursor: pointer; font: 12px system-ui, sans-serif; fill: #1d4ed8; }
.live .control { display: inline; }
)css";

// Shown only when the script runs. The field is XHTML: every browser that opens SVG files draws it.
const char* const kFlameGraphControls = R"svg(<g id="controls">
<svg x="100%" y="4" width="440" height="44" overflow="visible"><g transform="translate(-450)">
<foreignObject class="control" x="150" y="0" width="210" height="26"><input xmlns="http://www.w3.org/1999/xhtml" id="search" type="search" placeholder="search: regex (press /)" style="width:196px;box-sizing:border-box;font:12px system-ui,sans-serif"/></foreignObject>
<text class="control" id="reset" x="372" y="16" tabindex="0">reset zoom</text>
<text class="sub" id="matched" x="354" y="40" text-anchor="end"> </text>
</g></svg>
</g>
)svg";

const char* const kFlameGraphScript = R"js(
'use strict';
(() => {
  const root = document.documentElement;
  const area = document.getElementById('frames');
  const details = document.getElementById('details');
  const field = document.getElementById('search');
  const matched = document.getElementById('matched');
  const letter = 7.23;
  const all = Array.from(area.querySelectorAll('.f'), (g) => {
    const tip = g.querySelector('title').textContent.split('\n');
    return {g, rect: g.querySelector('rect'), text: g.querySelector('text'), label: tip[0], tip: tip.join(' · '),
            x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d};
  });
  const byElement = new Map(all.map((f) => [f.g, f]));
  const whole = all[0];
  let zoomed = whole;

  const covers = (a, b) => a.x <= b.x && a.x + a.w >= b.x + b.w;

  const fit = (label, px) => {
    const room = Math.floor((px - 6) / letter);
    if (room < 3) return '';
    const letters = Array.from(label);
    return letters.length <= room ? label : letters.slice(0, room - 2).join('') + '..';
  };

  const draw = () => {
    const px = area.getBoundingClientRect().width || 1180;
    for (const f of all) {
      const inside = f.d >= zoomed.d && covers(zoomed, f);
      const outer = f.d < zoomed.d && covers(f, zoomed);
      f.g.classList.toggle('hidden', !inside && !outer);
      f.g.classList.toggle('outer', outer);
      if (!inside && !outer) continue;
      const left = outer ? 0 : (f.x - zoomed.x) / zoomed.w;
      const width = outer ? 1 : f.w / zoomed.w;
      f.rect.setAttribute('x', left * 100 + '%');
      f.rect.setAttribute('width', width * 100 + '%');
      f.text.setAttribute('x', left * 100 + '%');
      f.text.textContent = fit(f.label, width * px);
    }
    document.getElementById('reset').style.visibility = zoomed === whole ? 'hidden' : 'visible';
  };

  const zoom = (f) => { zoomed = f; draw(); };

  // A frame that matches inside of one that matches is not counted twice.
  const search = (pattern) => {
    let test = null;
    if (pattern) {
      try {
        const regex = new RegExp(pattern, 'i');
        test = (label) => regex.test(label);
      } catch (error) {
        test = (label) => label.includes(pattern);
      }
    }
    const hits = [];
    for (const f of all) {
      const hit = test !== null && f !== whole && test(f.label);
      f.g.classList.toggle('match', hit);
      if (hit) hits.push(f);
    }
    hits.sort((a, b) => a.x - b.x || a.d - b.d);
    let end = -1;
    let sum = 0;
    for (const f of hits) {
      if (f.x < end) continue;
      sum += f.w;
      end = f.x + f.w;
    }
    matched.textContent = test === null ? ' ' : 'matched: ' + (100 * sum / whole.w).toFixed(1) + ' %';
  };

  const near = (f, key) => {
    const up = key === 'ArrowUp';
    const inward = root.dataset.icicle === '1' ? !up : up;
    const shown = all.filter((o) => !o.g.classList.contains('hidden'));
    if (key === 'ArrowUp' || key === 'ArrowDown') {
      const next = shown.filter((o) => inward ? o.d === f.d + 1 && covers(f, o) : o.d === f.d - 1 && covers(o, f));
      return next.sort((a, b) => b.w - a.w)[0];
    }
    const row = shown.filter((o) => o.d === f.d).sort((a, b) => a.x - b.x);
    return row[row.indexOf(f) + (key === 'ArrowRight' ? 1 : -1)];
  };

  area.addEventListener('click', (event) => {
    const f = byElement.get(event.target.closest('.f'));
    if (f) zoom(f);
  });
  area.addEventListener('mouseover', (event) => {
    const f = byElement.get(event.target.closest('.f'));
    details.textContent = f ? f.tip : ' ';
  });
  area.addEventListener('mouseleave', () => { details.textContent = ' '; });
  area.addEventListener('focusin', (event) => {
    const f = byElement.get(event.target.closest('.f'));
    if (f) details.textContent = f.tip;
  });
  const reset = document.getElementById('reset');
  reset.addEventListener('click', () => zoom(whole));
  field.addEventListener('input', () => search(field.value));
  document.addEventListener('keydown', (event) => {
    if (event.target === field) {
      if (event.key === 'Escape') { field.value = ''; search(''); field.blur(); }
      return;
    }
    const f = byElement.get(document.activeElement) || zoomed;
    if (event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
      field.focus();
      field.select();
    } else if (event.key === 'Escape') {
      zoom(whole);
    } else if (event.key === 'Enter' || event.key === ' ') {
      zoom(document.activeElement === reset ? whole : f);
    } else if (event.key.startsWith('Arrow')) {
      const next = near(f, event.key);
      if (next) next.g.focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  const heading = document.getElementById('heading');
  window.addEventListener('scroll', () => heading.setAttribute('transform', `translate(0,${Math.max(0, window.scrollY)})`));
  window.addEventListener('resize', draw);
  root.classList.add('live');
  draw();
})();
)js";

}  // namespace wf::profile
