// Whoever searches wants to do something: pages that say how come before those that say why.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const folders = { "docs/howto/": 6, "docs/tutorial": 3, "docs/using": 3, "docs/adr/": -12,
      "benchmarks/results/": -12 };
    const found = Object.keys(folders).find((folder) => docname.startsWith(folder));
    return score + (folders[found] ?? 0);
  },
  // The rest is what Sphinx has.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
