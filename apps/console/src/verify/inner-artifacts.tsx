import { isJsonObject } from "@agent/crypto";
import type { Verdict } from "@agent/verify";
import { ShortId } from "./claim-text.tsx";
import { listInner } from "./verifying/artifact-parts.ts";
import { showLine } from "../shared/format/show-text.ts";
import { ProofLevelList } from "./proof-level-list.tsx";

/** The receipts and credentials inside an artifact as a tree, each with its own proof levels. */
export function InnerArtifacts({ verdict, value }: { verdict: Verdict; value: unknown }) {
  const inner = listInner(verdict, value);
  if (inner.length === 0) return null;
  return (
    <ul class="tree" aria-label="Inside it">
      {inner.map((each, index) => (
        <li key={index}>
          <details open={!each.verdict.valid}>
            <summary class={each.verdict.valid ? "holds" : "fails"}>
              <span class="mark" aria-hidden="true">
                {each.verdict.valid ? "✓" : "✗"}
              </span>{" "}
              <InnerTitle verdict={each.verdict} value={each.value} />
            </summary>
            <ProofLevelList verdict={each.verdict} isShort />
          </details>
          <InnerArtifacts verdict={each.verdict} value={each.value} />
        </li>
      ))}
    </ul>
  );
}

function InnerTitle({ verdict, value }: { verdict: Verdict; value: unknown }) {
  const members = isJsonObject(value) ? value : {};
  const held = verdict.checks.filter(({ ok }) => ok).length;
  const agent = members["agent_id"];
  const tools = members["tools_used"];
  const names = Array.isArray(tools) ? tools.filter((tool) => typeof tool === "string") : [];
  return (
    <>
      {verdict.valid ? "Valid" : "Refused"} {verdict.kind?.replace("_", " ") ?? "artifact"}
      {typeof agent === "string" && (
        <>
          {" "}
          of agent <ShortId id={agent} />
        </>
      )}
      , {held} of {verdict.checks.length} checks hold
      {names.length > 0 && <>, tools: {showLine(names.join(", "), 80)}</>}
    </>
  );
}
