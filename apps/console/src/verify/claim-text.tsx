import type { Claim, EvidenceBundle } from "@agent/verify";
import type { FileVerdict, FileState } from "./verifying/verify-file.ts";
import {
  showDollars,
  showLine,
  showText,
  showTime,
  toMicroUnits,
} from "../shared/format/show-text.ts";

const prefixes: Readonly<Record<FileState, string>> = {
  confirmed: "",
  unconfirmed: "It claims: ",
  refused: "Not proven: ",
  unreadable: "",
};

interface ClaimTextProps {
  readonly fileVerdict: FileVerdict;
  readonly bundle: EvidenceBundle | null;
}

/** The claim of the file in one sentence, without a verdict. */
export function ClaimText({ fileVerdict: { claim, state }, bundle }: ClaimTextProps) {
  if (claim === null) {
    return state === "unreadable" ? null : <p class="claim">It states nothing that can be read.</p>;
  }
  return (
    <p class="claim">
      {prefixes[state]}
      {bundle === null ? showText(claim.statement) : <BundleSentence bundle={bundle} />}.
    </p>
  );
}

/** The result of the task and the full facts of the claim, below the verdict. */
export function ClaimFacts({ fileVerdict: { claim, state }, bundle }: ClaimTextProps) {
  if (claim === null) return null;
  return (
    <section>
      {bundle !== null && (
        <ResultText
          result={bundle.receipt.result}
          isErased={bundle.erased !== undefined}
          isProven={state !== "refused"}
        />
      )}
      <Facts claim={claim} />
    </section>
  );
}

const verbs = { completed: "completed", failed: "failed at", denied: "refused" } as const;

function BundleSentence({ bundle }: { bundle: EvidenceBundle }) {
  const { task, receipt, settlements, relay_id } = bundle;
  const paid = settlements.reduce((sum, each) => sum + toMicroUnits(each.amount_settled), 0);
  return (
    <>
      Relay <ShortId id={relay_id} /> states that agent <ShortId id={receipt.agent_id} />{" "}
      {verbs[task.status]} <q>{showLine(task.prompt, 240)}</q> for{" "}
      {task.submitted_by === null ? (
        "its operator"
      ) : (
        <>
          agent <ShortId id={task.submitted_by} />
        </>
      )}{" "}
      on <time>{showTime(receipt.completed_at)}</time>,{" "}
      {paid === 0 ? "unpaid" : `for ${showDollars(paid)}`}
    </>
  );
}

/** Shows the end of an id, because ids that were created together begin alike. */
export function ShortId({ id }: { id: string }) {
  return (
    <span class="id" title={showLine(id)}>
      {id.length > 12 ? `…${showLine(id.slice(-8))}` : showLine(id)}
    </span>
  );
}

const MAX_OPEN_RESULT = 400;

interface ResultTextProps {
  readonly result: unknown;
  readonly isErased: boolean;
  readonly isProven: boolean;
}

/** A refused result is collapsed, so that it is not mistaken for a proven one. */
function ResultText({ result, isErased, isProven }: ResultTextProps) {
  if (typeof result !== "string" || result === "") return null;
  const text = showText(result);
  const proven = isErased ? "Result (only its hash is left)" : "Result";
  return (
    <details class="result" open={isProven && text.length <= MAX_OPEN_RESULT}>
      <summary>{isProven ? proven : "Result (not proven)"}</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

function Facts({ claim }: { claim: Claim }) {
  return (
    <dl class="facts">
      <dt>In full</dt>
      <dd>{showText(claim.statement)}</dd>
      {claim.details.map((detail) => (
        <dd key={detail}>{showText(detail)}</dd>
      ))}
      <dt>Signed by</dt>
      <dd>
        {showText(claim.signer ?? "no key: it is not signed")}
        {claim.key !== null && (
          <>
            , key <code>{showLine(claim.key)}</code>
          </>
        )}
      </dd>
    </dl>
  );
}
