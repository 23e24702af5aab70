"use strict";

// Sorts and filters the list of trials, and steps through the trace of the one that is opened.
// Text of agents reaches the page through textContent alone, never as HTML.

const byId = (id) => document.getElementById(id);
const list = byId("list");
const body = list.tBodies[0];
const rows = [...body.rows];
const filters = byId("filters");

function make(name, text = "", className = "") {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = className;
  return element;
}

// ------------------------------------------------------------------ the list

const words = new Intl.Collator(undefined, { numeric: true });

function sort(header) {
  const column = header.cellIndex;
  const turn = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of list.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
  const keys = new Map(rows.map((row) => [row, row.cells[column].dataset.value]));
  const figures = rows.every((row) => !Number.isNaN(Number(keys.get(row))));
  rows.sort((first, second) => {
    const [a, b] = [keys.get(first), keys.get(second)];
    if (a === "" || b === "") return (a === "") - (b === ""); // what has no figure comes last
    return turn * (figures ? a - b : words.compare(a, b));
  });
  body.append(...rows);
}

function filter() {
  const wanted = Object.fromEntries(new FormData(filters));
  const text = wanted.text.toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = ["status", "task", "subject"].every(
      (name) => !wanted[name] || wanted[name] === row.dataset[name],
    );
    row.hidden = !fits || !row.textContent.toLowerCase().includes(text);
    shown += !row.hidden;
  }
  byId("shown").textContent = `${shown} of ${rows.length} trials`;
}

list.tHead.addEventListener("click", (event) => {
  const header = event.target.closest("th");
  if (header) sort(header);
});
filters.addEventListener("input", filter);
filters.addEventListener("submit", (event) => event.preventDefault());

// ------------------------------------------------------------------ a trial

const dialog = byId("trial");
const slider = byId("step");
let opened = null; // its number, its data, the place of the step that is shown
let opener = null;

function block(title, content) {
  const section = make("section");
  section.append(make("h3", title), content);
  return section;
}

function pre(text) {
  const element = make("pre", text);
  element.tabIndex = 0;
  element.dir = "auto";
  return element;
}

function diff(text) {
  const element = pre("");
  for (const line of text.split("\n")) {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
    element.append(make("span", `${line}\n`, kind));
  }
  return element;
}

function entries(fields) {
  return Object.entries(fields).map(([name, text]) => block(name, pre(text)));
}

function show(place) {
  const steps = opened.data.steps;
  const content = byId("content");
  opened.place = Math.min(Math.max(place, 0), Math.max(steps.length - 1, 0));
  content.replaceChildren();
  byId("previous").disabled = opened.place === 0;
  byId("next").disabled = opened.place >= steps.length - 1;
  const step = steps[opened.place];
  if (step) {
    slider.value = opened.place + 1;
    slider.setAttribute("aria-valuetext", `step ${opened.place + 1}: ${step.action}`);
    const parts = [`Step ${opened.place + 1} of ${steps.length}`, `${step.seconds.toFixed(1)} s`];
    if (step.tokens) parts.push(`${step.tokens.toLocaleString("en")} tokens`);
    if (step.score) parts.push(step.score);
    byId("announced").textContent = parts.join(" · ");
    content.append(...entries(step.thoughts));
    const action = make("div", "", "action");
    action.append(make("strong", step.action));
    if (!step.ok) action.append(make("span", "failed", "status invalid-submission"));
    const called = block("Action", action);
    for (const [name, text] of Object.entries(step.arguments)) {
      if (step.diff && name === "content") continue; // the changes say it
      called.append(make("h4", name), pre(text));
    }
    content.append(called);
    if (step.diff) content.append(block("Changes", diff(step.diff)));
    content.append(block("Output", pre(step.output || "(none)")));
  } else {
    byId("announced").textContent = "No step is recorded.";
  }
  if (opened.place >= steps.length - 1) content.append(...entries(opened.data.last));
  history.replaceState(null, "", `#trial-${opened.number}/${opened.place + 1}`);
}

function open(number, place = 0) {
  const source = byId(`trial-${number}`);
  if (!source) return;
  opened = { number, data: JSON.parse(source.textContent), place };
  const { data } = opened;
  const row = list.querySelector(`.open[data-trial="${number}"]`).closest("tr");
  byId("trial-title").textContent = data.title;
  const cells = [...row.cells].slice(1);
  const names = [...list.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
  byId("trial-summary").replaceChildren(
    ...cells.flatMap((cell, at) => {
      const shown = at === 0 ? cell.querySelector(".status").cloneNode(true) : null;
      const text = shown ?? make("span", `${names[at]} ${cell.textContent.trim()}`, "fact");
      return cell.dataset.value === "" ? [] : [text];
    }),
  );
  byId("trial-detail").textContent = [data.detail, data.nodeid, data.records]
    .filter(Boolean)
    .join("\n");
  byId("trial-problem").textContent = data.problem;
  slider.max = Math.max(data.steps.length, 1);
  slider.disabled = data.steps.length < 2;
  if (!dialog.open) dialog.showModal();
  show(place);
  byId("trial-title").focus();
}

function openFromAddress() {
  const found = /^#trial-(\d+)(?:\/(\d+))?$/.exec(location.hash);
  if (found) open(Number(found[1]), Number(found[2] ?? 1) - 1);
}

body.addEventListener("click", (event) => {
  opener = event.target.closest(".open");
  if (opener) open(Number(opener.dataset.trial));
});
byId("close").addEventListener("click", () => dialog.close());
byId("previous").addEventListener("click", () => show(opened.place - 1));
byId("next").addEventListener("click", () => show(opened.place + 1));
slider.addEventListener("input", () => show(slider.value - 1));
dialog.addEventListener("close", () => {
  history.replaceState(null, "", location.pathname + location.search);
  opener?.focus();
});
dialog.addEventListener("keydown", (event) => {
  if (event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
  const places = {
    ArrowLeft: opened.place - 1,
    ArrowRight: opened.place + 1,
    Home: 0,
    End: opened.data.steps.length - 1,
  };
  if (event.key in places) {
    event.preventDefault();
    show(places[event.key]);
  }
});
byId("no-script").hidden = true;
window.addEventListener("hashchange", openFromAddress);
openFromAddress();
