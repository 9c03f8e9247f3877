/** Gives several scenarios the same reason. */
function skipEach(reason: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

const fixedResources = skipEach(
  "the resources of an agent are agent://identity, agent://state and agent://memories, no fixtures",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
);

const fixedPrompts = skipEach(
  "the prompts of an agent are chat, recall and reflect, no fixtures",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
);

const noCompletion = skipEach(
  "the arguments of the prompts are free text, so nothing can be completed",
  "completion-complete",
);

const skippedInBothRevisions = { ...fixedResources, ...fixedPrompts, ...noCompletion };

/**
 * The requirements of the official suite that an agent does not meet, with reasons: by scenario, or
 * by one check of it as `scenario:check`. The test refuses unnecessary entries.
 */
export const conformanceSkips: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2025-11-25": {
    ...skippedInBothRevisions,
    ...skipEach(
      "an agent works unattended for callers of another owner: its tools never ask the caller back",
      "tools-call-sampling",
      "tools-call-elicitation",
      "elicitation-sep1034-defaults",
      "elicitation-sep1330-enums",
    ),
    ...skipEach(
      "what tools log is for the agent's owner, not for the caller",
      "logging-set-level",
      "tools-call-with-logging",
    ),
    ...skipEach(
      "the state of an agent is read when it is wanted, changes are not announced",
      "resources-subscribe",
      "resources-unsubscribe",
    ),
  },
  "2026-07-28": {
    ...skippedInBothRevisions,
    ...skipEach(
      "an agent works unattended for callers of another owner: its tools never ask the caller back",
      "server-stateless:sep-2575-server-rejects-undeclared-capability",
      "server-stateless:sep-2575-missing-capability-http-400",
      "input-required-result-basic-elicitation",
      "input-required-result-basic-sampling",
      "input-required-result-basic-list-roots",
      "input-required-result-request-state",
      "input-required-result-multiple-input-requests",
      "input-required-result-multi-round",
      "input-required-result-non-tool-request",
      "input-required-result-result-type",
      "input-required-result-tampered-state",
      "input-required-result-capability-check",
    ),
    ...skipEach(
      "extension; long work is a task of the relay, which outlives the connection",
      "tasks-lifecycle",
      "tasks-capability-negotiation",
      "tasks-wire-fields",
      "tasks-request-state-removal",
      "tasks-mrtr-input",
      "tasks-request-headers",
      "tasks-dispatch-and-envelope",
      "tasks-required-task-error",
      "tasks-mrtr-composition",
    ),
    ...skipEach(
      "pending in the suite; no tool of an agent wants its arguments repeated in headers",
      "http-custom-header-server-validation",
    ),
  },
};
