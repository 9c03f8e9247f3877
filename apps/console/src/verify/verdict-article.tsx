import { type NamedKey, PROOF_LEVELS } from "@agent/verify";
import type { JSX } from "preact";
import { CheckYourself } from "./check-yourself.tsx";
import { ClaimFacts, ClaimText } from "./claim-text.tsx";
import { InnerArtifacts } from "./inner-artifacts.tsx";
import { LogPlaceText } from "./log-place-text.tsx";
import { describeRefusal, findFailedLevel } from "./verifying/describe-refusal.ts";
import { splitWords, type TrustTexts } from "./verifying/parse-trust.ts";
import type { GivenFile, FileVerdict, FileState } from "./verifying/verify-file.ts";
import { getBundle } from "./verifying/artifact-parts.ts";
import { showLine } from "../shared/format/show-text.ts";
import { PostingsTable } from "./postings-table.tsx";
import { ProofLevelList, getLevelNumber } from "./proof-level-list.tsx";

interface VerdictArticleProps {
  readonly file: GivenFile;
  readonly keys: readonly NamedKey[];
  readonly texts: TrustTexts;
  readonly fileVerdict: FileVerdict;
  readonly onRemove: () => void;
}

/** One file: its claim, the verdict, the proof levels and everything inside it. */
export function VerdictArticle({ file, keys, texts, fileVerdict, onRemove }: VerdictArticleProps) {
  const { verdict, artifact } = fileVerdict;
  const bundle = getBundle(verdict, artifact);
  const heading = `file-${file.id}`;
  return (
    <article
      class={fileVerdict.state}
      aria-labelledby={heading}
      data-code={verdict.code}
      data-warned={isWarned(fileVerdict) || undefined}
    >
      <header>
        <h2 id={heading}>{showLine(file.name, 120)}</h2>
        <span class="actions noprint">
          <button type="button" onClick={() => globalThis.print()}>
            Print
          </button>
          <button type="button" onClick={onRemove} aria-label={`Remove ${showLine(file.name, 60)}`}>
            Remove
          </button>
        </span>
      </header>
      <ClaimText fileVerdict={fileVerdict} bundle={bundle} />
      <Stamp fileVerdict={fileVerdict} />
      <ClaimFacts fileVerdict={fileVerdict} bundle={bundle} />
      {fileVerdict.state !== "unreadable" && (
        <section>
          <h3>What was checked</h3>
          <ProofLevelList verdict={verdict} />
          <LogPlaceText
            fileVerdict={fileVerdict}
            trustedWitnesses={splitWords(texts.witnesses).length}
          />
          <InnerArtifacts verdict={verdict} value={artifact} />
        </section>
      )}
      {bundle !== null && <PostingsTable postings={bundle.postings} />}
      <CheckYourself name={file.name} keys={keys} texts={texts} fileVerdict={fileVerdict} />
    </article>
  );
}

interface StampText {
  readonly icon: string;
  readonly word: string;
  readonly sentence: (fileVerdict: FileVerdict) => JSX.Element;
}

const stamps: Readonly<Record<FileState, StampText>> = {
  confirmed: {
    icon: "✓",
    word: "Valid",
    sentence: (fileVerdict) => (
      <>
        It was signed by the key that you named, and every check holds.
        {describeLog(fileVerdict)}
      </>
    ),
  },
  unconfirmed: {
    icon: "!",
    word: "Not confirmed: no key was named",
    sentence: () => (
      <>
        The signatures fit together, but any person can create such a file with new keys. To know
        who signed this one, <a href="#keys">name the key that you trust</a>.
      </>
    ),
  },
  refused: { icon: "✗", word: "Refused", sentence: describeRefused },
  unreadable: { icon: "?", word: "Not readable", sentence: describeUnreadable },
};

/** The named log and its witnesses prove more than the relay's signature can. */
function describeLog({ logPlace }: FileVerdict): string {
  if (logPlace?.isNamed !== true) return "";
  const { length } = logPlace.witnesses;
  const witnessed =
    length === 0
      ? ""
      : `, and ${length} of your witnesses ${length === 1 ? "has" : "have"} seen it`;
  return ` The log that you named holds it${witnessed}.`;
}

/** Whether a valid file has a failed proof level, and so must not look like a file without failures. */
function isWarned({ state, verdict }: FileVerdict): boolean {
  return state === "confirmed" && verdict.checks.some(({ ok }) => !ok);
}

const WARNED: StampText = {
  icon: "!",
  word: "Signed by the key that you named, but not every check holds",
  sentence: ({ verdict }) => {
    const failed = PROOF_LEVELS.filter(({ name }) =>
      verdict.checks.some((check) => check.name === name && !check.ok),
    );
    return <>These checks fail: {failed.map(({ title }) => title).join(", ")}. See below.</>;
  },
};

/** The verdict as a colour, an icon and words, each of which is sufficient. */
function Stamp({ fileVerdict }: { fileVerdict: FileVerdict }) {
  const { icon, word, sentence } = isWarned(fileVerdict) ? WARNED : stamps[fileVerdict.state];
  return (
    <div class="stamp" role="status">
      <span class="icon" aria-hidden="true">
        {icon}
      </span>
      <div>
        <strong>{word}</strong>
        <p>{sentence(fileVerdict)}</p>
      </div>
    </div>
  );
}

function describeRefused({ verdict, membersHold }: FileVerdict) {
  const { reason, remedy } = describeRefusal(verdict);
  const level = findFailedLevel(verdict);
  return (
    <>
      <b>{reason}</b> {remedy}
      {membersHold && " Its content is still what was signed."}
      <small>
        {level !== undefined && <>Level {getLevelNumber(level)}, </>}
        code <code>{verdict.code}</code>
      </small>
    </>
  );
}

function describeUnreadable({ verdict, fault }: FileVerdict) {
  const { reason, remedy } = describeRefusal(verdict);
  const place = [
    ...(fault?.line == null ? [] : [`line ${fault.line}`]),
    ...(fault?.byte == null ? [] : [`byte ${fault.byte}`]),
  ].join(", ");
  return (
    <>
      <b>{fault?.reason ?? reason}</b> {remedy}
      <small>
        {place !== "" && <>{place}; </>}
        code <code>{verdict.code}</code>
      </small>
    </>
  );
}
