/**
 * A program that runs beside a demonstration and cleans up after it. Its standard input is a pipe
 * without a writer. The pipe closes when the demonstration ends for any reason. The program then
 * removes what remains in the folder that its argument names, including the database server and the
 * agent.
 */
const [, , folder = ""] = process.argv;
process.stdin.resume().once("end", async () => {
	const { removeDemoFolder } = await import("./folder.ts");
	await removeDemoFolder(folder);
});
