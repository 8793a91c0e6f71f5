/**
 * A program of its own beside a demonstration. Its standard input is a pipe that nobody writes to
 * and that ends when the demonstration does, however it does: then it removes what was left in
 * the folder that its argument names, with the database server and the agent.
 */
const [, , folder = ""] = process.argv;
process.stdin.resume().once("end", async () => {
	const { removeDemoFolder } = await import("./folder.ts");
	await removeDemoFolder(folder);
});
