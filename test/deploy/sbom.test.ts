import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

interface Part {
	name: string;
	version: string;
	purl: string;
	"bom-ref": string;
}

let sbom: {
	bomFormat: string;
	metadata: { component: Part };
	components: Part[];
	dependencies: { ref: string; dependsOn: string[] }[];
};
let versions: Map<string, string>;

beforeAll(async () => {
	const run = promisify(execFile);
	const { stdout } = await run("npm", ["run", "--silent", "sbom"], {
		cwd: ROOT,
		maxBuffer: 64 << 20,
	});
	sbom = JSON.parse(stdout);
	versions = new Map(sbom.components.map((one) => [one.name, one.version]));
});

const readJson = async (file: string) =>
	JSON.parse(await readFile(join(ROOT, file), "utf8"));

test("the SBOM describes this program and lists every package that it depends on, in the pinned version", async () => {
	const { name, version, dependencies } = await readJson("package.json");
	expect(sbom.bomFormat).toBe("CycloneDX");
	expect(sbom.metadata.component).toMatchObject({ name, version });
	expect(Object.fromEntries(versions)).toMatchObject(dependencies);
});

test("the SBOM lists indirect dependencies, also shared ones, and no package that only development needs", async () => {
	const { packages } = await readJson("package-lock.json");
	for (const name of ["better-auth", "fastify", "pg", "pino", "pg-types"]) {
		const { dependencies = {} } = packages[`node_modules/${name}`];
		for (const needed of Object.keys(dependencies)) {
			expect([...versions.keys()], name).toContain(needed);
		}
	}
	const { devDependencies } = await readJson("package.json");
	const developed = Object.keys(devDependencies).filter(
		(name) => packages[`node_modules/${name}`].dev,
	);
	expect(developed.length).toBeGreaterThan(10);
	expect(developed.filter((name) => versions.has(name))).toEqual([]);
});

test("the SBOM lists every component that another one needs", () => {
	const refs = new Set(
		[sbom.metadata.component, ...sbom.components].map((one) => one["bom-ref"]),
	);
	const named = sbom.dependencies.flatMap(({ ref, dependsOn }) => [
		ref,
		...dependsOn,
	]);
	expect(named.filter((ref) => !refs.has(ref))).toEqual([]);
	for (const { purl } of sbom.components) expect(purl).toMatch(/^pkg:npm\//);
});
