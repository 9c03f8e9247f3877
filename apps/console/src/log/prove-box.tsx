import type { VerifierKey } from "@agent/transparency";
import { useState } from "preact/hooks";
import { formatKind, formatTime } from "./format-entry.ts";
import { proveArtifact, type ProveArtifactResult } from "./prove-artifact.ts";

/** The box that proves an artifact in the browser. */
export function ProveBox({ logKey }: { logKey: VerifierKey }) {
  const [text, setText] = useState("");
  const [result, setResult] = useState<ProveArtifactResult>();
  const change = (next: string) => {
    setText(next);
    // The answer for the previous text must not remain beside the new one.
    setResult(undefined);
  };
  const prove = async () => setResult(await proveArtifact(text, logKey));
  return (
    <section class="keys prove">
      <label for="artifact">Is it in the log?</label>
      <textarea
        id="artifact"
        rows={4}
        spellcheck={false}
        placeholder="A receipt, a settlement record or a credential as JSON, or its hash"
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <p class="hint">
        Only its hash is sent to the relay. The proof that comes back is verified in this browser.
      </p>
      <button type="button" disabled={text.trim() === ""} onClick={() => void prove()}>
        Prove it
      </button>
      <div aria-live="polite">{result !== undefined && <Answer result={result} />}</div>
    </section>
  );
}

function Answer({ result }: { result: ProveArtifactResult }) {
  if (!result.ok) return <p class="refused">{result.reason}</p>;
  const { index, size, entry } = result;
  return (
    <p class="proven">
      <strong>In the log</strong> at index {index}, as {formatKind(entry)} of {formatTime(entry)},
      under a head of {size} {size === 1 ? "entry" : "entries"}.
    </p>
  );
}
