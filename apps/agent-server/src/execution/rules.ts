import { chooseTools } from "./choose-tools.ts";
import type { Executor, Outcome } from "./executor.ts";
import { fillArguments } from "./fill-arguments.ts";

const maxSteps = 10;

/**
 * Plans without a model: the same prompt always runs the same tools with the same arguments. Of several
 * tools each works on what the one before it answered.
 */
export const rulesExecutor: Executor = {
  async execute(task, toolbox): Promise<Outcome> {
    const steps = chooseTools(task, toolbox.tools);
    if (steps.length === 0) return failed("This agent has no tools");
    if (steps.length > maxSteps) return failed(`The prompt asks for more than ${maxSteps} tools`);

    let text = task.prompt;
    for (const tool of steps) {
      const filled = fillArguments(tool, task.prompt, text);
      if (!filled.ok) {
        return failed(
          `Tool "${tool.name}" needs "${filled.missing}", which the prompt does not say`,
        );
      }
      const answer = await toolbox.call(tool.name, filled.args);
      if (!answer.ok) {
        return { status: answer.kind === "denied" ? "denied" : "failed", result: answer.error };
      }
      text = answer.data;
    }
    return { status: "completed", result: text };
  },
};

function failed(result: string): Outcome {
  return { status: "failed", result };
}
