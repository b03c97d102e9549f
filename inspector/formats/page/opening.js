// Opens what a file has in it.

async function open() {
  const read = (name) => unpacked(document.getElementById(name).textContent.trim());
  const about = resolved(await read("data"));
  globalThis.page = about.runs ? new Comparison(about) : new Page(about);
  if (!document.getElementById("pictures")) return;
  await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 0)); });
  page.showScene(new Scene(await read("pictures")));
}

open().catch((error) => { document.getElementById("status").textContent = `This file is damaged: ${error.message}`; });
