import "../style.css";

/** Adds a copy button after each value that readers compare with another source. */
for (const value of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy the ${value.getAttribute("data-copy") ?? "value"}`);
  button.addEventListener("click", () => void copyText(button, value.textContent));
  value.after(button);
}

async function copyText(button: HTMLButtonElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Without a secure connection the browser offers no clipboard, but the value can be selected.
    button.textContent = "Select and copy it";
  }
}
