
"use strict";
(() => {
  const $ = (query, from = document) => from.querySelector(query);
  const $$ = (query, from = document) => [...from.querySelectorAll(query)];
  const SVG = "http://www.w3.org/2000/svg";
  const maps = $$(".map"), panel = $(".panel"), tip = $("#tip"), card = $("#card"), search = $("#search"), home = $("#home");
  const groups = $$(".group").map((section) => ({
    section,
    label: $("h2", section).textContent,
    pages: $$(".members > li", section),
  }));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const homes = new Map(home ? [...home.options].map((one) => [one.value, one.dataset.name]) : []); // names of communities
  let open = 0; // the number of the group that is read, 0 for none
  let inside = false; // whether its pages are dots that can be chosen
  let found = new Map(); // group -> places of the pages found in it

  document.documentElement.classList.add("live");

  // --- the map that is seen: one of those for different windows ---------------------------------------------------

  const map = () => maps.find((one) => one.clientWidth) || maps[0];
  const circles = () => $$(".circle", map());
  const circle = (n) => circles()[n - 1];
  const place = (a) => ({ x: +a.dataset.x, y: +a.dataset.y, r: +a.dataset.r });
  const sheet = (svg) => {
    const [, , w, h] = (svg.dataset.sheet ||= svg.getAttribute("viewBox")).split(" ").map(Number);
    return { x: 0, y: 0, w, h };
  };
  const view = (svg) => {
    const { x, y, width, height } = svg.viewBox.baseVal;
    return { x, y, w: width, h: height };
  };

  function set(svg, to) {
    svg.setAttribute("viewBox", [to.x, to.y, to.w, to.h].map((n) => n.toFixed(2)).join(" "));
    const scale = to.w / sheet(svg).w;
    svg.style.setProperty("--s", scale.toFixed(4));
    $("#whole").disabled = $("#farther").disabled = scale > 0.999;
    $("#nearer").disabled = scale < 0.03;
  }

  let running = 0;
  function glide(to) {
    const svg = map(), from = view(svg), began = performance.now(), run = ++running;
    if (still.matches) return set(svg, to);
    const step = (now) => {
      if (run !== running) return;
      const t = Math.min(1, (now - began) / 420), s = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      // Sizes go by factors, so that a zoom looks even.
      const w = from.w * (to.w / from.w) ** s, k = to.w === from.w ? s : (w - from.w) / (to.w - from.w);
      const mix = (a, b) => a + (b - a) * k;
      set(svg, { x: mix(from.x, to.x), y: mix(from.y, to.y), w, h: mix(from.h, to.h) });
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  function around({ x, y, r }) {
    const { w, h } = sheet(map()), scale = Math.min(1, (2.3 * r) / Math.min(w, h));
    return { x: x - (w * scale) / 2, y: y - (h * scale) / 2, w: w * scale, h: h * scale };
  }

  // The size of type in a view, in units of the sheet.
  const scaled = ({ w }) => (map().getAttribute("font-size") * w) / sheet(map()).w;

  function zoom(by, at) {
    const svg = map(), now = view(svg), all = sheet(svg);
    const w = Math.min(all.w, Math.max(all.w / 40, now.w * by)), k = w / now.w, h = now.h * k;
    const to = { x: at.x - (at.x - now.x) * k, y: at.y - (at.y - now.y) * k, w, h };
    return w === all.w ? all : to;
  }

  const middle = () => { const { x, y, w, h } = view(map()); return { x: x + w / 2, y: y + h / 2 }; };
  const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(map().getScreenCTM().inverse());

  // --- a group is read --------------------------------------------------------------------------------------------

  function read(n, focus) {
    leave();
    if (open && !n) glide(sheet(map()));
    open = n;
    search.value && n ? clear() : home?.value && look();
    groups.forEach(({ section }, i) => section.classList.toggle("open", i + 1 === n));
    panel.classList.toggle("reading", n > 0);
    panel.scrollTop = 0;
    mark();
    if (focus) $("h2", n ? groups[n - 1].section : $("#groups")).focus({ preventScroll: innerWidth >= 800 });
  }

  const lines = () => ($("#show-links").checked ? "links" : "alike");
  $$("input[name=lines]").forEach((choice) => choice.addEventListener("change", mark));

  function mark() {
    for (const svg of maps) {
      const kin = new Set();
      for (const line of $$(".line", svg)) {
        const ends = line.dataset.ends.split(" ").map(Number), is = open > 0 && ends.includes(open);
        line.classList.toggle("kin", is);
        if (is && line.parentNode.classList.contains(lines())) ends.forEach((end) => kin.add(end));
      }
      $$(".circle", svg).forEach((a, i) => {
        a.classList.toggle("open", i + 1 === open);
        a.classList.toggle("kin", kin.has(i + 1));
        a.classList.toggle("found", found.has(i + 1));
        a.tabIndex = i + 1 === (open || 1) ? 0 : -1;
        hits(a, i, found.get(i + 1) || []);
      });
      svg.classList.toggle("faded", open > 0 || found.size > 0);
      svg.classList.toggle("searching", found.size > 0);
    }
  }

  // The places of a group's pages: there is a path of dots for each community, in the order of the pages.
  function spots(a, pages) {
    const of = (path) => [...path.getAttribute("d").matchAll(/M(\S+) (\S+)h0/g)].map((m) => [+m[1], +m[2]]);
    const rows = new Map($$(".dots", a).map((path) => [path.dataset.c, of(path).values()]));
    return pages.map((page) => rows.get(page.dataset.c).next().value);
  }

  function hits(a, n, pages) {
    $(".hits", a)?.remove();
    if (!pages.length) return;
    const all = spots(a, groups[n].pages), path = $(".dots", a).cloneNode();
    path.setAttribute("class", "hits");
    path.setAttribute("stroke-width", 1.5 * path.getAttribute("stroke-width"));
    path.setAttribute("d", pages.map((i) => `M${all[i][0]} ${all[i][1]}h0`).join(""));
    a.insertBefore(path, $(".label", a));
  }

  const wanted = () => +(/^#g(\d+)$/.exec(location.hash)?.[1] || 0);
  addEventListener("hashchange", () => read(wanted(), true));

  // --- its pages are dots -----------------------------------------------------------------------------------------

  function enter(n, chosen = 0) {
    if (open !== n) { history.pushState(null, "", "#g" + n); read(n, false); }
    leave();
    const svg = map(), a = circle(n), { x, y, r } = place(a), pages = groups[n - 1].pages;
    if (!pages.length) return;
    const layer = document.createElementNS(SVG, "g"), wide = Math.min($(".dots", a).getAttribute("stroke-width") * 0.32, 0.42 * scaled(around(place(a))));
    layer.setAttribute("class", "near " + a.getAttribute("class").match(/k\d/)[0]);
    layer.setAttribute("transform", `translate(${x} ${y})`);
    layer.setAttribute("role", "group");
    layer.setAttribute("aria-label", "Pages of " + groups[n - 1].label);
    const places = spots(a, pages), tones = new Map($$(".dots", a).map((path) => [path.dataset.c, path.getAttribute("class").slice(5)]));
    places.forEach(([dx, dy], i) => layer.append(dot(pages[i], dx, dy, wide, (found.get(n) || []).includes(i), tones.get(pages[i].dataset.c))));
    svg.append(layer);
    svg.classList.add("inside");
    inside = true;
    glide(around({ x, y, r }));
    titles(layer, places, pages, scaled(around({ x, y, r })), r);
    const first = layer.children[chosen];
    first.setAttribute("tabindex", "0");
    first.classList.add("chosen");
    first.focus({ preventScroll: true });
    if (innerWidth < 800) svg.scrollIntoView({ block: "center" });
  }

  function dot(page, x, y, r, is, tone) {
    const g = document.createElementNS(SVG, "g"), c = document.createElementNS(SVG, "circle");
    g.setAttribute("class", `dot ${tone}${is ? " found" : ""}`);
    g.setAttribute("role", "button");
    g.setAttribute("tabindex", "-1");
    g.setAttribute("aria-label", name(page));
    for (const [key, value] of [["cx", x], ["cy", y], ["r", r], ["vector-effect", "non-scaling-stroke"]]) c.setAttribute(key, value);
    g.append(c);
    g.page = page;
    return g;
  }

  const letters = (text) => [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 1.8 : 1), 0); // wide ones are of the East
  // Titles of the nearest pages, as far as none lies on another; the dots of all others tell theirs when pointed at.
  function titles(layer, places, pages, scale, r) {
    const type = 0.92 * scale, taken = [];
    for (let i = 0; i < places.length && i < 120 && taken.length < 16; i++) {
      const words = name(pages[i]), most = letters(words) > 1.3 * words.length ? 14 : 26;
      const short = words.length > most ? words.slice(0, most - 1).trim() + "…" : words;
      const [x, y] = places[i], half = letters(short) * type * 0.3 + type, at = y + type * 1.9;
      if (Math.abs(x) + half > 1.25 * r) continue;
      if (taken.some(([ox, oy, other]) => Math.abs(x - ox) < half + other && Math.abs(at - oy) < type * 3.4)) continue;
      taken.push([x, at, half]);
      const text = document.createElementNS(SVG, "text");
      text.setAttribute("class", "title");
      text.setAttribute("x", x);
      text.setAttribute("y", at);
      text.setAttribute("paint-order", "stroke");
      text.setAttribute("aria-hidden", "true");
      text.textContent = short;
      layer.append(text);
    }
  }

  function leave() {
    if (!inside) return;
    inside = false;
    hint(null);
    $$(".near").forEach((layer) => layer.remove());
    maps.forEach((svg) => svg.classList.remove("inside"));
  }

  const name = (page) => $("bdi", page).textContent;
  const host = (page) => $(".host", page).textContent;
  const about = (page) => [host(page), homes.get(page.dataset.c)].filter(Boolean).join(" · ");

  function hint(target) {
    const page = target?.page;
    tip.classList.toggle("seen", Boolean(page));
    if (!page) return;
    const small = document.createElement("small"), box = target.getBoundingClientRect();
    small.textContent = about(page);
    tip.replaceChildren(name(page), small);
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    tip.style.left = Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (box.top > tip.offsetHeight + 14 ? box.top - tip.offsetHeight - 8 : box.bottom + 8) + "px";
  }

  // --- a page on a card: its archived copy ------------------------------------------------------------------------

  function show(page) {
    const copy = $(".copied", page), close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.textContent = "Close";
    close.addEventListener("click", () => card.close());
    card.replaceChildren(close, copy ? content($(copy.getAttribute("href"))) : brief(page));
    card.setAttribute("aria-label", name(page));
    card.showModal();
    card.scrollTop = 0;
  }

  function content(article) {
    const clone = article.cloneNode(true);
    clone.removeAttribute("id");
    return clone;
  }

  function brief(page) {
    const article = document.createElement("article"), title = document.createElement("h3"), line = document.createElement("p");
    article.className = "copy";
    title.append(page.firstElementChild.cloneNode(true));
    line.className = "quiet";
    line.textContent = about(page) + ". There is no copy of it in this file.";
    article.append(title, line);
    return article;
  }

  // --- search -----------------------------------------------------------------------------------------------------

  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  let texts; // of all groups and pages, made when they are first needed
  const index = () => (texts ||= groups.map(({ label, section, pages }) => ({
    label: folded(label + " " + ($(".terms", section)?.textContent || "")),
    pages: pages.map((page) => folded(name(page) + " " + host(page))),
  })));

  function look() {
    const words = folded(search.value).split(/\s+/).filter(Boolean), has = (text) => words.every((word) => text.includes(word));
    found = new Map();
    const named = [], pages = [], of = home?.value, any = words.length > 0 || Boolean(of);
    if (any) index().forEach((texts, g) => {
      const own = (i) => !of || groups[g].pages[i].dataset.c === of;
      const places = texts.pages.flatMap((text, i) => (own(i) && has(text) ? [i] : []));
      const is = words.length > 0 && has(texts.label) && (!of || places.length > 0);
      if (is) named.push(g);
      if (places.length || is) found.set(g + 1, places);
      places.forEach((i) => pages.push([g, i]));
    });
    panel.classList.toggle("searching", words.length > 0 || (any && !open));
    $("#count").textContent = any ? said(named.length, pages.length) : "";
    $("#results").replaceChildren(...named.map(groupRow), ...pages.slice(0, 200).map(pageRow));
    mark();
  }

  const many = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
  const said = (groups, pages) =>
    groups + pages ? `${many(pages, "page")}, ${many(groups, "group")}${pages > 200 ? "; the first 200 pages:" : ""}` : "Nothing has these words.";

  function row(words, about, act) {
    const li = document.createElement("li"), button = document.createElement("a"), bdi = document.createElement("bdi"), small = document.createElement("span");
    button.href = "#";
    bdi.textContent = words;
    button.append(bdi);
    button.addEventListener("click", (event) => { event.preventDefault(); act(); });
    small.className = "about";
    small.textContent = " " + about;
    li.append(button, small);
    return li;
  }

  const groupRow = (g) => row(groups[g].label, many(groups[g].pages.length, "page"), () => { location.hash = "g" + (g + 1); });
  const pageRow = ([g, i]) => row(name(groups[g].pages[i]), [groups[g].label, home?.value ? "" : homes.get(groups[g].pages[i].dataset.c)].filter(Boolean).join(", "), () => {
    const kept = found;
    clear();
    found = kept;
    enter(g + 1, i);
    show(groups[g].pages[i]);
  });

  function clear() {
    search.value = "";
    look();
  }

  search.addEventListener("input", look);
  home?.addEventListener("change", () => { if (open) history.pushState(null, "", "#groups"), read(0, false); look(); });

  // --- pointer and keys -------------------------------------------------------------------------------------------

  function next(from, all, key) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const centre = (one) => { const box = $("circle:last-of-type", one).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const [x, y] = centre(from);
    let best = null, least = Infinity;
    for (const one of all) {
      const [ox, oy] = centre(one), along = (ox - x) * way[0] + (oy - y) * way[1];
      const aside = Math.abs((ox - x) * way[1] + (oy - y) * way[0]), far = along + 2 * aside;
      if (one !== from && along > 0.5 && far < least) [best, least] = [one, far];
    }
    return best;
  }

  function step(event, from, all) {
    const to = next(from, all, event.key);
    event.preventDefault();
    if (!to) return;
    from.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus({ preventScroll: true });
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target.closest?.(".circle, .dot");
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") escape(event);
    else if (!on) return;
    else if (event.key.startsWith("Arrow")) step(event, on, on.page ? $$(".dot", on.parentNode) : circles());
    else if (on.page && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); show(on.page); }
    else if (!on.page && event.key.toLowerCase() === "z") enter(circles().indexOf(on) + 1);
  });

  function escape(event) {
    if (card.open) return; // the card closes itself
    const n = open;
    if (event.target === search && search.value) { event.preventDefault(); clear(); }
    else if (inside) { leave(); look(); glide(sheet(map())); circle(n).focus({ preventScroll: true }); }
    else if (n) { history.pushState(null, "", "#groups"); read(0, false); circle(n).focus({ preventScroll: true }); }
    else if (found.size) { if (home) home.value = ""; clear(); }
  }

  document.addEventListener("click", (event) => {
    const copied = event.target.closest(".copied"), on = event.target.closest(".dot"), a = event.target.closest(".circle");
    if (copied) { event.preventDefault(); show(copied.closest("li")); }
    else if (event.target === card) card.close();
    else if (on) show(on.page);
    else if (a && moved) event.preventDefault();
    else if (a && circles().indexOf(a) + 1 === open) { event.preventDefault(); enter(open); }
  });
  for (const [over, out] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    document.addEventListener(over, (event) => hint(event.target.closest?.(".dot")));
    document.addEventListener(out, () => hint(null));
  }

  let held = null, moved = false;
  for (const svg of maps) {
    svg.addEventListener("wheel", (event) => {
      if (innerWidth < 800) return; // there the page scrolls
      event.preventDefault();
      running++;
      set(svg, zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 250), point(event)));
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => {
      moved = false;
      if (event.button === 0 && event.pointerType !== "touch") held = { at: point(event), x: event.clientX, y: event.clientY };
    });
    svg.addEventListener("dragstart", (event) => event.preventDefault());
  }
  addEventListener("pointermove", (event) => {
    if (!held || view(map()).w >= sheet(map()).w) return;
    if (!moved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < 4) return;
    moved = true;
    map().classList.add("held");
    const now = view(map()), at = point(event);
    set(map(), { ...now, x: now.x + held.at.x - at.x, y: now.y + held.at.y - at.y });
  });
  addEventListener("pointerup", () => { held = null; map().classList.remove("held"); });

  $("#nearer").addEventListener("click", () => glide(zoom(1 / 1.6, middle())));
  $("#farther").addEventListener("click", () => glide(zoom(1.6, middle())));
  $("#whole").addEventListener("click", () => { leave(); glide(sheet(map())); });
  groups.forEach(({ section, pages }, i) => {
    if (!pages.length) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pages-button";
    button.textContent = "See its pages on the map";
    button.addEventListener("click", () => enter(i + 1));
    $("h2", section).nextElementSibling.after(button);
  });
  matchMedia("(min-width: 800px)").addEventListener("change", leave);
  matchMedia("(min-width: 1180px)").addEventListener("change", leave);

  maps.forEach((svg) => set(svg, sheet(svg)));
  read(wanted(), false);
})();
