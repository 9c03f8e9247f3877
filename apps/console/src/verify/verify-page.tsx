import { useState } from "preact/hooks";
import { FileInput } from "./file-input.tsx";
import type { FileVerifier } from "./verifying/file-verifier.ts";
import type { GivenFile } from "./verifying/verify-file.ts";
import { NO_TRUST, parseTrust } from "./verifying/parse-trust.ts";
import { KeyField } from "./key-field.tsx";
import { LogFields } from "./log-fields.tsx";
import { useArticles } from "./use-articles.tsx";

let lastId = 0;

/** The whole page: the files, the keys, and one article for each file. */
export function VerifyPage({
  verifyInBrowser,
  isSingleFile,
}: {
  verifyInBrowser: FileVerifier;
  isSingleFile: boolean;
}) {
  const [files, setFiles] = useState<readonly GivenFile[]>([]);
  const [texts, setTexts] = useState(NO_TRUST);
  const articles = useArticles(files, texts, verifyInBrowser, setFiles);
  const parsed = parseTrust(texts);
  const addFiles = (added: readonly Omit<GivenFile, "id">[]) =>
    setFiles((before) => [...added.map((file) => ({ ...file, id: ++lastId })), ...before]);

  return (
    <main data-ready class={files.length > 0 ? "busy" : undefined}>
      <header class="top">
        <h1>Verify</h1>
        <p>
          Check a receipt, a credential or the evidence of a task.{" "}
          <strong>Nothing leaves this browser</strong>
          {isSingleFile
            ? ": this file contains the whole verifier."
            : ": the page is not allowed to open any connection."}
        </p>
      </header>
      <FileInput onFiles={addFiles} isSmall={files.length > 0} />
      <KeyField
        text={texts.keys}
        onText={(keys) => setTexts((before) => ({ ...before, keys }))}
        fault={parsed.ok || parsed.field !== "keys" ? undefined : parsed.message}
      />
      <LogFields texts={texts} onTexts={setTexts} parsed={parsed} />
      {parsed.ok && articles.length < files.length && (
        <p role="status" class="noprint">
          Verified {articles.length} of {files.length}
        </p>
      )}
      <div aria-live="polite">{articles}</div>
      {!isSingleFile && (
        <footer class="noprint">
          <p>
            <a href="./agent-verify.html" download>
              This page as one file
            </a>{" "}
            works without a relay and without a network.
          </p>
        </footer>
      )}
    </main>
  );
}
