--
-- The style sheet of the report.  Contrast to the background: text at least 4.5, marks at least 3,
-- in both colour schemes.  A page on paper is light.
--
CREATE FUNCTION sync_probe_internal.html_style()
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $css$
SELECT $$
:root { color-scheme: light dark;
  --bg: #fdfdfc; --panel: #f4f4f1; --ink: #1c2024; --ink2: #4b535c; --ink3: #646d78;
  --rule: #d5d8dc; --grid: #e8eaec; --band: #e8eef4;
  --blue: #22609c; --red: #ad2a1d; --amber: #85590a; --green: #1f6a4a;
  --cur: #56616c; --oth: #7a8490 }
@media screen and (prefers-color-scheme: dark) { :root {
  --bg: #15181b; --panel: #1e2226; --ink: #e6e8ea; --ink2: #b3bac2; --ink3: #959ea8;
  --rule: #3a4149; --grid: #2a3036; --band: #27313c;
  --blue: #86b7e8; --red: #ff9388; --amber: #e3b768; --green: #7cc8a2;
  --cur: #a9b2bc; --oth: #7b8590 } }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--bg); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue",
    "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums lining-nums; overflow-wrap: break-word }
h1, h2, h3, p, dl, dd, ol, ul, figure, pre { margin: 0 }
a { color: var(--blue); text-underline-offset: .18em }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; border-radius: 2px }
.skip { position: absolute; left: -99rem }
.skip:focus { position: static }
.page { max-width: 74rem; margin: 0 auto; padding: 0 1rem 2rem }
.defs { position: absolute }

/* text */
h1 { font-size: 1.75rem; line-height: 1.18; font-weight: 650; letter-spacing: -.015em;
  text-wrap: balance }
h2 { font-size: 1.125rem; line-height: 1.3; font-weight: 650; text-wrap: balance }
h2 b { display: block; font-size: .8125rem; font-weight: 400; color: var(--ink3) }
h3 { font-size: .9375rem; line-height: 1.4; font-weight: 650 }
.panel { font-size: .8125rem; line-height: 1.5; font-weight: 600; margin-bottom: .35rem;
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
code, pre, .m, .plot .k {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace }
code, .m { font-size: .94em; overflow-wrap: anywhere }
.how, .sm, .key, figcaption, summary {
  font-size: .8125rem; line-height: 1.5; color: var(--ink2) }
.how { margin-top: .4rem; max-width: 64ch }
.kicker { font-size: .8125rem; color: var(--ink3); padding: 1.25rem 0 .9rem }
.lead { font-size: 1.0625rem; color: var(--ink2); margin-top: .6rem; max-width: 62ch }
.note { font-size: .875rem; color: var(--ink2); margin-top: 1.2rem; max-width: 76ch }
:root { --c: var(--ink3) }
.switch { --c: var(--blue) }
.keep, .yes, .no_cache, .proven { --c: var(--green) }
.undecided, .outdated, .warning, .unknown { --c: var(--amber) }
.unsafe, .error, .no, .refuted { --c: var(--red) }
.tag { color: var(--c); font-weight: 650 }
.from { font-size: .75rem; border: 1px solid var(--amber); color: var(--amber);
  border-radius: 2px; padding: 0 .3rem; white-space: nowrap }
pre { background: var(--panel); border-radius: 3px; padding: .45rem .7rem; margin-top: .65rem;
  font-size: .8125rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere;
  -webkit-user-select: all; user-select: all }
dt { font-size: .75rem; line-height: 1.45; color: var(--ink3) }
dd { font-size: .875rem; line-height: 1.4 }

/* head, contents, sections */
.glance { list-style: none; padding: 0; margin-top: 1.3rem; display: grid; gap: .7rem 1rem;
  grid-template-columns: repeat(auto-fill, minmax(7.6rem, 1fr));
  font-size: .8125rem; line-height: 1.45 }
.glance a { display: block; border-top: 2px solid var(--c); padding-top: .25rem;
  color: var(--ink2); text-decoration: none; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap }
.glance b { display: block; color: var(--c); font-weight: 650 }
.facts { display: grid; grid-template-columns: 1fr 1fr; gap: .7rem 1.5rem; margin-top: 1.4rem;
  padding-top: .8rem; border-top: 1px solid var(--rule) }
.facts > div, .figures > div { min-width: 0 }
nav { margin-top: .9rem }
nav ol { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1.3rem;
  font-size: .8125rem }
nav a { text-decoration: none; display: inline-block; padding: .25rem 0 }
section { padding-top: 2.4rem }
.body { margin-top: 1rem; min-width: 0 }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .8rem }
footer p { max-width: 90ch }
footer p + p { margin-top: .4rem }

/* verdicts and findings */
.v { border-top: 2px solid var(--c); padding-top: .55rem; min-width: 0 }
.vh { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline;
  gap: .2rem .75rem }
.vh > * { min-width: 0; overflow-wrap: anywhere }
.vw { font-size: 1rem; line-height: 1.4 }
.big .vw { font-size: 1.375rem; line-height: 1.3; margin: .15rem 0 .1rem;
  letter-spacing: -.01em }
.why { font-size: .875rem; color: var(--ink2); margin-top: .2rem; max-width: 66ch }
.big .why { font-size: .9375rem; color: var(--ink) }
.figures { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem 1.2rem;
  margin-top: .65rem }
.figures dd { font-size: .8125rem }
.pair { display: grid; gap: 1.7rem 2.2rem; margin-top: 1.9rem }
.fi { border-top: 1px solid var(--rule); padding: .65rem 0 .75rem }
.fi > * { min-width: 0 }
.sv { font-size: .8125rem; line-height: 1.7 }
.fi div p { font-size: .875rem; max-width: 80ch; overflow-wrap: anywhere }
.fi div p + p { color: var(--ink2) }
h3 .sm { font-weight: 400 }

/* figures: x in percent of the plot, y in pixels, so that text keeps its size */
figure + figure { margin-top: 1.8rem }
figure > h3 { margin-bottom: .6rem }
figcaption { margin-top: .45rem; max-width: 76ch }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin-bottom: .6rem }
.key svg { width: 14px; height: 12px; vertical-align: -1px; overflow: visible }
.panels { --least: 22rem; display: grid; gap: 1.1rem 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(var(--least), 100%), 1fr)) }
.panels > div { container-type: inline-size; min-width: 0 }
.plot { --l: 6.9rem; --r: 2.2rem; display: block; overflow: visible;
  margin: 0 var(--r) 0 var(--l); width: calc(100% - var(--l) - var(--r)) }
.intervals .plot { --r: 3.4rem }
.lines { --least: 15rem }
.lines .plot { --l: 3.4rem; --r: 1rem }
.wd { display: none }
@container (min-width: 34rem) { .intervals .plot { --r: 10rem } .wd { display: inline } }
.plot text { font-size: 12px; fill: var(--ink2) }
.plot .k { fill: var(--ink); text-anchor: end }
.plot .u { font-size: 11px; fill: var(--ink3); text-anchor: end }
.plot .t { fill: var(--ink3) }
.plot .e { text-anchor: end }
.plot .c { text-anchor: middle }
.plot .b { font-weight: 650; fill: var(--ink) }
.plot .b .t { font-weight: 400 }
.plot .bx { font-weight: 650; fill: var(--red) }
.plot .y, .plot .b { paint-order: stroke; stroke: var(--bg); stroke-width: 3px;
  stroke-linejoin: round }
.plot .on { fill: var(--bg); stroke: none }
.plot .oth .on { fill: #000 }
.cur { --m: var(--cur) } .rec { --m: var(--blue) } .oth { --m: var(--oth) }
.bad { --m: var(--red) }
.f { fill: var(--m) }
.h { fill: var(--bg); stroke: var(--m); stroke-width: 1.5 }
.l { stroke: var(--m); stroke-width: 1.75; fill: none }
.g { stroke: var(--grid) }
.z { stroke: var(--ink3) }
.band { fill: var(--band) }
.xm { stroke: var(--red); stroke-width: 2 }
.q9 { stroke: var(--ink2); stroke-dasharray: 2 2 }

/* tables */
details { margin-top: .6rem }
summary { color: var(--blue); cursor: pointer; width: fit-content }
.scroll { overflow-x: auto; margin-top: .4rem }
table { border-collapse: collapse; font-size: .75rem; line-height: 1.35; white-space: nowrap;
  text-align: right }
caption { text-align: left; color: var(--ink2); padding-bottom: .3rem }
th { font-weight: 500; color: var(--ink2); vertical-align: bottom }
tbody th { color: var(--ink); text-align: left }
th, td { padding: .2rem 0 .2rem .9rem }
tr > :first-child { padding-left: 0; text-align: left }
thead th { border-bottom: 1px solid var(--rule) }
tbody tr:nth-child(4n) > * { border-bottom: 1px solid var(--grid) }
.s { text-align: left }

@media (min-width: 40.01rem) {
  .facts { grid-template-columns: repeat(4, 1fr) }
  .big .figures { grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)) }
  .pair { grid-template-columns: 1fr 1fr }
  .fi { display: grid; grid-template-columns: 4.6rem 1fr } }
@media (min-width: 62rem) {
  .page { padding: 0 2rem 3rem }
  h1 { font-size: 2.25rem }
  .lead { font-size: 1.125rem }
  section { display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); column-gap: 2.75rem;
    padding-top: 2rem; margin-top: 2.2rem; border-top: 1px solid var(--rule) }
  .hd { position: sticky; top: 1.2rem; align-self: start }
  .body { margin-top: .15rem }
  #numbers { display: block }
  #numbers .hd { position: static } }
@media print {
  @page { size: A4; margin: 14mm 14mm 16mm;
    @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif } }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact }
  :root { --bg: #fff }
  body { font-size: 10.5pt }
  .page { padding: 0 }
  nav, .skip, .ft, details:not([open]) { display: none }
  .kicker { padding-top: 0 }
  section { padding-top: 1.5rem }
  .hd, h3, .panel, .key { break-after: avoid }
  .hd, figure, .v, .fi, tr { break-inside: avoid }
  .scroll { overflow: visible }
  table { font-size: 6.3pt; white-space: normal }
  thead th { overflow-wrap: anywhere }
  th, td { padding: .1rem 0 .1rem .45rem }
  a { color: inherit; text-decoration: none } }
$$
$css$;
