import { render } from "preact";
import "../style.css";
import { LogPage } from "./log-page.tsx";
import { readLog } from "./read-log.ts";

const root = document.querySelector("#page");
if (root !== null) render(<LogPage result={await readLog()} />, root);
