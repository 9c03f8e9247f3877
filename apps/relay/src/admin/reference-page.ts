import { escapeHtml } from "../http/escape-html.ts";

/** The parts of an OpenAPI document that the page shows. */
interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly "x-operator-only"?: true;
  readonly "x-owner-only"?: true;
  readonly "x-single-use-token"?: true;
  readonly "x-token-scope"?: string;
  readonly "x-rate-limit"?: { readonly tier: string; readonly per_minute: number };
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: object }>> };
  readonly responses: Readonly<
    Record<string, { description: string; content?: Readonly<Record<string, { schema: object }>> }>
  >;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: object;
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const STYLESHEET = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
pre { background: #f4f4f5; overflow: auto; padding: .75rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
details { border-top: 1px solid #ddd; padding: .5rem 0; }
summary { cursor: pointer; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
@media (prefers-color-scheme: dark) { body { background: #18181b; color: #e4e4e7; } pre { background: #27272a; } a { color: #93c5fd; } }
`;

/** Builds the contract as a page without scripts, fonts or other hosts. */
export function buildReferencePage(openApi: object): string {
  const document = openApi as Document;
  const { info, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  );
  const sections = tags.map(
    ({ name }) => `<h2 id="${toAnchor(name)}">${escapeHtml(name)}</h2>
${operations
  .filter(({ described }) => described.tags.includes(name))
  .map(({ path, method, described }) => formatOperation(path, method, described))
  .join("\n")}`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${formatJson(schema)}</details>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)} ${escapeHtml(info.version)}</title>
<style>${STYLESHEET}</style>
<h1>${escapeHtml(info.title)} <small>${escapeHtml(info.version)}</small></h1>
<p>${escapeHtml(info.description)}</p>
<p><a href="openapi.json">openapi.json</a> is the same for machines.</p>
<nav>${tags.map(({ name }) => `<a href="#${toAnchor(name)}">${escapeHtml(name)}</a>`).join(" · ")} · <a href="#schemas">Schemas</a></nav>
${sections.join("\n")}
<h2 id="schemas">Schemas</h2>
${schemas.join("\n")}
</html>
`;
}

function formatCallers(operation: DescribedOperation): string {
  const [security] = operation.security;
  if (security === undefined) return "no token";
  if (!("bearer" in security)) return "signed headers of another relay";
  if (operation["x-operator-only"]) return "the operator's token";
  return operation["x-owner-only"] ? "a token of the agent itself" : "a token";
}

function formatOperation(path: string, method: string, operation: DescribedOperation): string {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const limit = operation["x-rate-limit"];
  const facts = [
    formatCallers(operation),
    operation["x-single-use-token"] && "a fresh token each time",
    operation["x-token-scope"] && `scope <code>${escapeHtml(operation["x-token-scope"])}</code>`,
    limit && `${limit.per_minute} a minute (${escapeHtml(limit.tier)})`,
  ].filter(Boolean);
  const rows = parameters.map(
    ({ name, in: place, required, description = "", schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(place)}${required ? ", required" : ""}</td><td><code>${escapeHtml(JSON.stringify(schema))}</code> ${formatMarkdown(description)}</td></tr>`,
  );
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const answers = Object.entries(responses).map(([status, { description, content = {} }]) => {
    const media = Object.entries(content).map(([type, { schema }]) =>
      Number(status) < 300 ? `<p><code>${escapeHtml(type)}</code></p>${formatJson(schema)}` : "",
    );
    return `<tr><th>${escapeHtml(status)}</th><td>${formatMarkdown(description)}${media.join("")}</td></tr>`;
  });
  return `<details id="${escapeHtml(operationId)}">
<summary><code><b>${method.toUpperCase()}</b> ${escapeHtml(path)}</code> ${formatMarkdown(summary)}</summary>
<p>${facts.join(" · ")}</p>
${rows.length > 0 ? `<table>${rows.join("")}</table>` : ""}
${body === undefined ? "" : `<p>Body:</p>${formatJson(body)}`}
<table>${answers.join("")}</table>
</details>`;
}

const toAnchor = (name: string) => `section-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;

const formatJson = (value: object) => `<pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;

/** Formats paragraphs, with text between backticks as code. */
const formatMarkdown = (markdown: string) =>
  escapeHtml(markdown)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll("\n\n", "<br>");
