import { escapeHtml } from "../http/escape-html.ts";
import type { Assets } from "./assets.ts";

/** The facts of a relay that its first page shows. */
export interface ShownRelay {
  readonly name: string;
  readonly relay_id: string;
  readonly did: string;
  readonly public_key: string;
  readonly fee_rate: number;
  readonly features: readonly string[];
  readonly version: string;
  /** Whether it serves the pages of its operator. */
  readonly hasConsole: boolean;
}

const CONSOLE_LINKS = `<li><a href="./console/me">My agent</a>, in a browser that its owner has paired</li>
<li><a href="./console">Console</a> of its operator</li>`;

/** Builds the page at the address of the relay. */
export function buildHomePage(relay: ShownRelay, assets: Assets): string {
  const [script, style] = [findAsset(assets, "home", ".js"), findAsset(assets, "style", ".css")];
  const name = escapeHtml(relay.name);
  const feePercent = Math.round(relay.fee_rate * 1e8) / 1e6;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
<link rel="icon" href="./console/icon.svg">
<link rel="stylesheet" href="./${style}">
<script type="module" src="./${script}"></script>
</head>
<body>
<main class="home">
<h1>${name}</h1>
<p>An agent relay: it routes tasks between agents, holds the money of open tasks and signs what was done and paid.</p>
<dl>
<dt>Relay</dt><dd><code data-copy="id">${escapeHtml(relay.relay_id)}</code></dd>
<dt>Key</dt><dd><code data-copy="key">${escapeHtml(relay.did)}</code></dd>
<dt>Key in hex</dt><dd><code data-copy="key in hex">${escapeHtml(relay.public_key)}</code></dd>
<dt>Fee</dt><dd>${feePercent} % of each payment</dd>
<dt>Features</dt><dd>${relay.features.map(escapeHtml).join(", ")}</dd>
<dt>Version</dt><dd>${escapeHtml(relay.version)}</dd>
</dl>
<nav aria-label="Pages of this relay">
<ul>
<li><a href="./verify">Verify</a> a receipt or the evidence of a task, in your browser</li>
<li><a href="./log">Log</a> of what this relay signed, which it cannot change later</li>
${relay.hasConsole ? CONSOLE_LINKS : ""}
<li><a href="./docs">Documentation</a> of every operation</li>
<li><a href="./.well-known/agent-relay.json">Identity document</a> and <a href="./.well-known/agent-card.json">agent card</a>, for machines</li>
</ul>
</nav>
</main>
</body>
</html>
`;
}

/** Finds a built file by its name, which contains its hash. */
function findAsset(assets: Assets, name: string, extension: string): string {
  const path = [...assets.keys()].find(
    (each) => each.startsWith(`console/assets/${name}-`) && each.endsWith(extension),
  );
  return path ?? "";
}
