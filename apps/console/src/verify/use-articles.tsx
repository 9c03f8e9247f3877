import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FileVerifier } from "./verifying/file-verifier.ts";
import type { GivenFile } from "./verifying/verify-file.ts";
import { collectCompanions } from "./verifying/collect-companions.ts";
import { parseTrust, type TrustTexts } from "./verifying/parse-trust.ts";
import { VerdictArticle } from "./verdict-article.tsx";

/** The latest verdict on a file as it is shown, and the keys on which it is based. */
interface ShownVerdict {
  readonly texts: TrustTexts;
  /** Kept, so that the page does not render all articles again for each new verdict. */
  readonly article: JSX.Element;
}

/**
 * Verifies the files one after another, and returns the articles of those whose verdict is known. An article is
 * shown only beside the keys on which its verdict is based, and never beside an error.
 */
export function useArticles(
  files: readonly GivenFile[],
  texts: TrustTexts,
  verifyInBrowser: FileVerifier,
  setFiles: (change: (before: readonly GivenFile[]) => readonly GivenFile[]) => void,
): readonly JSX.Element[] {
  const [verdicts, setVerdicts] = useState<ReadonlyMap<GivenFile, ShownVerdict>>(new Map());

  // A change of the keys verifies all files again; a late answer for previous keys is discarded.
  useEffect(() => {
    const parsed = parseTrust(texts);
    if (!parsed.ok) return;
    let isCurrent = true;
    const { trust } = parsed;
    const context = { trust, companions: collectCompanions(files) };
    const removeFile = (removed: GivenFile) => {
      setFiles((before) => before.filter((file) => file !== removed));
      setVerdicts((before) => new Map([...before].filter(([file]) => file !== removed)));
    };
    const verifyAll = async () => {
      for (const file of files) {
        const fileVerdict = await verifyInBrowser(file.bytes, context);
        if (!isCurrent) return;
        const { keys } = trust;
        const onRemove = () => removeFile(file);
        const article = (
          <VerdictArticle key={file.id} {...{ file, keys, texts, fileVerdict, onRemove }} />
        );
        setVerdicts((before) => new Map(before).set(file, { texts, article }));
      }
    };
    void verifyAll();
    return () => (isCurrent = false);
  }, [files, texts, verifyInBrowser, setFiles]);

  return files.flatMap((file) => {
    const verdict = verdicts.get(file);
    return verdict?.texts === texts ? [verdict.article] : [];
  });
}
