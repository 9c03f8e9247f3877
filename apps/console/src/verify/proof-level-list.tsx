import { PROOF_LEVELS, type ProofLevelName, type Verdict } from "@agent/verify";

/** Returns the position of a level among all levels, for people. */
export function getLevelNumber(name: ProofLevelName): string {
  const index = PROOF_LEVELS.findIndex((level) => level.name === name);
  return `${index + 1} of ${PROOF_LEVELS.length} (${PROOF_LEVELS[index]?.title ?? name})`;
}

const states = {
  holds: { mark: "✓", word: "holds" },
  fails: { mark: "✗", word: "fails" },
  absent: { mark: "–", word: "not shown" },
} as const;

/** The proof levels in order, each with its meaning; a level that was not checked is grey. */
export function ProofLevelList({
  verdict,
  isShort = false,
}: {
  verdict: Verdict;
  isShort?: boolean;
}) {
  const levels = PROOF_LEVELS.map((level) => ({
    level,
    check: verdict.checks.find(({ name }) => name === level.name),
  })).filter(({ check }) => !isShort || check !== undefined);
  return (
    <ol class={isShort ? "levels short" : "levels"}>
      {levels.map(({ level, check }) => {
        const state = check === undefined ? "absent" : check.ok ? "holds" : "fails";
        const { mark, word } = states[state];
        return (
          <li key={level.name} class={state}>
            <span class="mark" aria-hidden="true">
              {mark}
            </span>
            <div>
              <span class="title">
                {level.title} <span class="word">{word}</span>
                {check?.code !== undefined && <code>{check.code}</code>}
              </span>
              {!isShort && (
                <p>
                  {level.proves} <span class="not">It does not prove {level.doesNotProve}</span>
                </p>
              )}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
