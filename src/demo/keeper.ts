/**
 * A program beside a demonstration. Its standard input is a pipe that nobody writes to. The pipe
 * ends when the demonstration ends, for any reason. Then the program removes what was left in the
 * folder that its argument names, with the database server and the agent.
 */
const [, , folder = ""] = process.argv;
process.stdin.resume().once("end", async () => {
	const { removeDemoFolder } = await import("./folder.ts");
	await removeDemoFolder(folder);
});
