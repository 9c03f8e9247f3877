import { render } from "preact";
import "../style.css";
import { createFileVerifier, serveFileVerifier } from "./verifying/file-verifier.ts";
import { VerifyPage } from "./verify-page.tsx";

// The worker runs this same script, so that it needs no second download.
if (typeof document === "undefined") serveFileVerifier(globalThis as unknown as Worker);
else await renderPage();

async function renderPage(): Promise<void> {
  const root = document.querySelector("#page");
  // The single-file page has no separate script.
  const isSingleFile = document.documentElement.hasAttribute("data-single-file");
  const verifyInBrowser = await createFileVerifier(isSingleFile ? null : import.meta.url);
  if (root !== null)
    render(<VerifyPage verifyInBrowser={verifyInBrowser} isSingleFile={isSingleFile} />, root);
}
