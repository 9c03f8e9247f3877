import type { ToolDefinition } from "../../tools/definition.ts";
import { chooseTools } from "../tool-access/choose-tools.ts";
import { buildFailedOutcome, type Executor, type Outcome, type Toolbox } from "../executor.ts";
import { fillArguments } from "./fill-arguments.ts";
import { createArgumentTypeLookup, parseNamedCall } from "./parse-named-call.ts";
import type { WorkTask } from "../task.ts";

const MAX_STEPS = 10;
/** The most tools that a refusal lists. */
const MAX_NAMED_TOOLS = 20;

/**
 * Plans without a model: the same prompt always runs the same tools with the same arguments. Each tool
 * after the first works on the previous answer.
 */
export const rulesExecutor: Executor = {
  async execute(task, toolbox): Promise<Outcome> {
    const called = await callNamedTool(task, toolbox);
    if (called !== undefined) return called;
    const steps = chooseTools(task, toolbox);
    if (steps.length === 0) return buildFailedOutcome("This agent has no tools");
    if (steps.length > MAX_STEPS)
      return buildFailedOutcome(`The prompt asks for more than ${MAX_STEPS} tools`);

    let text = task.prompt;
    for (const tool of steps) {
      const filled = fillArguments(tool, task.prompt, text);
      if (!filled.ok) {
        return buildFailedOutcome(
          `Tool "${tool.name}" needs "${filled.missing}", which the prompt does not contain`,
        );
      }
      const answer = await toolbox.call(tool.name, filled.args);
      if (!answer.ok) return toFailedOutcome(answer);
      text = answer.data;
    }
    return { status: "completed", result: text };
  },
};

/**
 * Runs the tool that the prompt calls by name. Where prices differ, a task without required
 * capabilities runs no other tool: a guess could charge the price of one tool for the work of
 * another.
 */
async function callNamedTool(task: WorkTask, toolbox: Toolbox): Promise<Outcome | undefined> {
  if (task.requiredCapabilities.length > 0) return undefined;
  const call = parseNamedCall(task.prompt, createArgumentTypeLookup(toolbox.tools));
  const { hasSeveralPrices, tools } = toolbox;
  if (call === undefined || !toolbox.has(call.tool)) {
    return hasSeveralPrices ? { status: "denied", result: formatCallSyntax(tools) } : undefined;
  }
  const answer = await toolbox.call(call.tool, call.args);
  if (answer.ok) return { status: "completed", result: answer.data };
  // Where prices are equal, a text that fails as a call may still be a prompt for the tool that it
  // names.
  return answer.kind === "invalid" && !hasSeveralPrices ? undefined : toFailedOutcome(answer);
}

function formatCallSyntax(tools: readonly ToolDefinition[]): string {
  const names = tools.slice(0, MAX_NAMED_TOOLS).map(({ name }) => name);
  return (
    "The prompt must name one tool, as `name key=value`, `name {json}` or " +
    '`{"tool": "name", "arguments": {}}`, or the task must require a capability; ' +
    `the tools are: ${names.join(", ")}${tools.length > MAX_NAMED_TOOLS ? ", ..." : ""}`
  );
}

function toFailedOutcome({ kind, error }: { kind: string; error: string }): Outcome {
  return { status: kind === "denied" ? "denied" : "failed", result: error };
}
