// The search: an index of the library's pages, made when the page is opened. All that is found is put in as text.
"use strict";
(() => {
  const { topics, homes, items } = self.analecta;
  const box = document.getElementById("q"), list = document.getElementById("found"), told = document.getElementById("told");
  const MOST = 60;
  // Fields of an item and how much a word counts in each; `about` is its host, author and date.
  const TOPIC = 0, ID = 1, TITLE = 2, URL_ = 3, ABOUT = 4, SUMMARY = 5, WORDS = 6, COPY = 7, LANG = 8, HOME = 9;
  const WEIGHTS = [[TITLE, 4], [SUMMARY, 1.5], [ABOUT, 1], [WORDS, 0.7]];
  // Scripts without spaces between words are looked up by pairs of letters.
  const DENSE = /[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]+|[^\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]+/g;
  const dense = (word) => /[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]/.test(word);

  const fold = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().normalize("NFC");

  function terms(text) {
    const found = [];
    for (const word of fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) || []) {
      for (const part of word.match(DENSE)) {
        if (!dense(part) || part.length < 3) found.push(part);
        else for (let i = 0; i + 1 < part.length; i++) found.push(part.slice(i, i + 2));
      }
    }
    return found;
  }

  const index = new Map(); // word -> Map(item -> weight)
  items.forEach((item, n) => {
    const fields = [...WEIGHTS.map(([field, weight]) => [item[field], weight]), [topics[item[TOPIC]][0], 1]];
    if (homes[item[HOME]]) fields.push([homes[item[HOME]][0], 1]);
    for (const [text, weight] of fields) {
      for (const term of terms(text)) {
        if (!index.has(term)) index.set(term, new Map());
        const at = index.get(term);
        at.set(n, (at.get(n) || 0) + weight);
      }
    }
  });
  const vocabulary = [...index.keys()].sort();

  // Words that begin so: a binary search, then on.
  function beginning(start) {
    let low = 0, high = vocabulary.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (vocabulary[middle] < start) low = middle + 1; else high = middle;
    }
    const found = [];
    while (low < vocabulary.length && vocabulary[low].startsWith(start)) found.push(vocabulary[low++]);
    return found;
  }

  function scores(term) {
    const found = new Map();
    for (const word of beginning(term)) {
      const share = word === term ? 1 : 0.5;
      const rare = Math.log(1 + items.length / index.get(word).size);
      for (const [n, weight] of index.get(word)) {
        found.set(n, Math.max(found.get(n) || 0, share * rare * weight / (weight + 1.5)));
      }
    }
    return found;
  }

  // The words to find, and those to leave out: -word, or -"several words" where a page has all of them.
  function asked(query) {
    const wanted = new Set(), unwanted = [];
    for (const [, minus, text] of query.matchAll(/(-?)("[^"]*"?|\S+)/g)) {
      const found = terms(text);
      if (!minus) found.forEach((term) => wanted.add(term));
      else if (found.length) unwanted.push(found);
    }
    return [[...wanted], unwanted];
  }

  function find(query) {
    const [wanted, unwanted] = asked(query);
    const left = (n) => unwanted.some((words) => words.every((word) => index.get(word)?.has(n)));
    const each = wanted.map(scores);
    if (!each.length && unwanted.length) each.push(new Map(items.map((_, n) => [n, 0])));
    const sums = new Map();
    for (const found of each) {
      for (const [n, score] of found) {
        if (left(n)) continue;
        const [hits, sum] = sums.get(n) || [0, 0];
        sums.set(n, [hits + 1, sum + score]);
      }
    }
    const most = Math.max(0, ...[...sums.values()].map(([hits]) => hits));
    const best = [...sums].filter(([, [hits]]) => hits === most).sort((a, b) => b[1][1] - a[1][1] || a[0] - b[0]);
    return { best: best.map(([n]) => items[n]), all: most === each.length };
  }

  function element(name, parts, attributes = {}) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value) made.setAttribute(key, value);
    made.append(...parts);
    return made;
  }

  const foreign = (text, lang) => element("bdi", [text], { lang });

  function shown(item) {
    const name = foreign(item[TITLE], item[LANG]);
    const web = /^https?:\/\//i.test(item[URL_]);
    const title = web ? element("a", [name], { href: item[URL_], rel: "noreferrer nofollow" }) : name;
    const [topic, page] = topics[item[TOPIC]];
    const about = [foreign(item[ABOUT]), " · ", element("a", [foreign(topic)], { href: `${page}#${item[ID]}` })];
    if (homes[item[HOME]]) about.push(" · ", element("a", [foreign(homes[item[HOME]][0])], { href: homes[item[HOME]][1] }));
    if (item[COPY]) about.push(" · ", element("a", ["archived copy"], { href: item[COPY] }));
    return element("li", [
      element("h2", [title]), element("p", about, { class: "quiet" }), element("p", [foreign(item[SUMMARY], item[LANG])]),
    ]);
  }

  function show() {
    const query = box.value.trim();
    list.replaceChildren();
    if (!query) {
      told.textContent = `Type words to search ${items.length.toLocaleString("en")} pages.`;
      return;
    }
    const { best, all } = find(query);
    const count = best.length === 1 ? "1 page" : `${best.length.toLocaleString("en")} pages`;
    const first = best.length > MOST ? ` The best ${MOST} are shown.` : "";
    told.textContent = !best.length ? "No page has these words."
      : all ? `${count} found.${first}` : `No page has all these words. ${count} with some of them:${first}`;
    list.append(...best.slice(0, MOST).map(shown));
  }

  function keep() {
    try { // from file:// some browsers refuse it
      history.replaceState(null, "", box.value ? `?q=${encodeURIComponent(box.value)}` : location.pathname);
    } catch { /* the search works without it */ }
  }

  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", show);
  box.form.addEventListener("submit", (event) => { event.preventDefault(); show(); keep(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); box.select(); }
  });
  show();
  box.focus();
})();
