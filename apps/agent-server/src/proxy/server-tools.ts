import type { Tool } from "@modelcontextprotocol/client";
import type { Runtime } from "../runtime.ts";
import {
  listDifferences,
  getToolShape,
  type ConfirmedTools,
  type ToolShape,
} from "./confirmed-tools.ts";

/** A tool that differs from the confirmed one. */
export interface ToolChange {
  readonly server: string;
  readonly tool: Tool;
  readonly differences: readonly string[];
}

/** The current tools of one wrapped server, compared with the confirmed ones. */
export interface ServerTools {
  /** Replaces the server's list; a change is logged once. */
  update(tools: readonly Tool[]): void;
  /** Returns the confirmed shape, which callers see until a changed one is confirmed. */
  getConfirmedShape(name: string): ToolShape | undefined;
  /** Returns the reason why a call is refused; undefined if the tool is as confirmed. */
  getRefusal(name: string): string | undefined;
  changes(): readonly ToolChange[];
}

export function createServerTools(
  server: string,
  confirmed: ConfirmedTools,
  { log }: Pick<Runtime, "log">,
): ServerTools {
  let listed = new Map<string, Tool>();
  const loggedChanges = new Map<string, string>();

  function findChange(tool: Tool): ToolChange | undefined {
    const known = confirmed.get(server, tool.name);
    const differences = known === undefined ? [] : listDifferences(known, getToolShape(tool));
    return differences.length === 0 ? undefined : { server, tool, differences };
  }

  function changes(): readonly ToolChange[] {
    return [...listed.values()].flatMap((tool) => findChange(tool) ?? []);
  }

  return {
    changes,
    update(tools) {
      listed = new Map(tools.map((tool) => [tool.name, tool]));
      for (const { tool, differences } of changes()) {
        const text = differences.join("; ");
        if (loggedChanges.get(tool.name) === text) continue;
        loggedChanges.set(tool.name, text);
        log("warn", "proxy.tool_changed", { server, tool: tool.name, differences: text });
      }
    },
    getConfirmedShape: (name) => confirmed.get(server, name),
    getRefusal(name) {
      const tool = listed.get(name);
      if (tool === undefined) return `MCP server "${server}" no longer lists the tool "${name}"`;
      return findChange(tool) === undefined
        ? undefined
        : `the tool "${name}" has changed at its server; the owner must confirm it (confirm-tools)`;
    },
  };
}
