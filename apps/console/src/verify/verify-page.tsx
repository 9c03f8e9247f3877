import { useEffect, useState } from "preact/hooks";
import type { NamedKey } from "@agent/verify";
import { FileInput } from "./file-input.tsx";
import type { FileVerifier } from "./verifying/file-verifier.ts";
import type { GivenFile, FileVerdict } from "./verifying/verify-file.ts";
import { collectCompanions } from "./verifying/collect-companions.ts";
import { NO_TRUST, parseTrust, type TrustTexts } from "./verifying/parse-trust.ts";
import { KeyField } from "./key-field.tsx";
import { LogFields } from "./log-fields.tsx";
import { VerdictArticle } from "./verdict-article.tsx";

/** A file with its latest verdict, and the keys on which the verdict is based. */
interface VerifiedFile {
  readonly file: GivenFile;
  readonly keys: readonly NamedKey[];
  readonly texts: TrustTexts;
  readonly fileVerdict: FileVerdict;
}

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
  const [verified, setVerified] = useState<readonly VerifiedFile[]>([]);
  const parsed = parseTrust(texts);
  // No verdict is shown beside an error, even before the effect below has run.
  const shown = parsed.ok ? verified : [];

  // A change of the keys verifies all files again; a late answer for previous keys is discarded.
  useEffect(() => {
    const current = parseTrust(texts);
    if (!current.ok) return setVerified([]);
    let isCurrent = true;
    const { trust } = current;
    const context = { trust, companions: collectCompanions(files) };
    void Promise.all(
      files.map(async (file) => ({
        file,
        keys: trust.keys,
        texts,
        fileVerdict: await verifyInBrowser(file.bytes, context),
      })),
    ).then((results) => isCurrent && setVerified(results));
    return () => (isCurrent = false);
  }, [files, texts, verifyInBrowser]);

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
      <div aria-live="polite">
        {shown.map((each) => (
          <VerdictArticle
            key={each.file.id}
            {...each}
            onRemove={() => setFiles((before) => before.filter(({ id }) => id !== each.file.id))}
          />
        ))}
      </div>
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
