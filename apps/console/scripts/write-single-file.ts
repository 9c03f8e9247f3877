import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build, type Rollup } from "vite";

/**
 * Writes the page as one file for readers without a server. A page that is opened from a file cannot load a
 * module from another file, so script and style are inlined and allowed by their hashes.
 */
const folder = new URL("../../relay/assets/console/", import.meta.url);

const built = (await build({
  root: new URL("..", import.meta.url).pathname,
  logLevel: "warn",
  build: {
    write: false,
    assetsDir: "",
    rolldownOptions: { input: new URL("../verify.html", import.meta.url).pathname },
  },
})) as Rollup.RollupOutput;

const isVerifyScript = (file: Rollup.OutputChunk | Rollup.OutputAsset) =>
  file.type === "chunk" && file.isEntry;
const script = built.output.find(isVerifyScript) as Rollup.OutputChunk;
if (script.imports.length > 0)
  throw new Error(`the page is not one script: ${script.imports.join(", ")}`);
const [styleName] = readdirSync(new URL("console/assets/", folder)).filter((name) =>
  /^style-.*\.css$/.test(name),
);
const style = readFileSync(new URL(`console/assets/${styleName}`, folder), "utf8");
// An end tag inside a string of the script would end the script element.
const code = script.code.replaceAll("</script", String.raw`<\/script`);

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(code)}`,
  `style-src ${hashOf(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en" data-single-file>
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verify a file of an agent relay</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page verifies files in your browser, so it needs JavaScript.</noscript>
<script type="module">${code}</script>
</body>
</html>
`;
writeFileSync(new URL("agent-verify.html", folder), page);
