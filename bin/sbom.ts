import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Prints the packages that `npm ci --omit dev` installs, as CycloneDX JSON. The program does not
 * use `npm sbom --omit dev`, which leaves out every package that a development package needs as
 * well (npm 11.19: zod, pg-types and 50 more). It asks npm for the whole list instead, and removes
 * the packages that npm marks as needed only for development.
 */

interface Component {
	"bom-ref": string;
	name: string;
	properties?: { name: string; value: string }[];
}

interface Bom {
	metadata: { component: Component & { type: string } };
	components: Component[];
	dependencies: { ref: string; dependsOn: string[] }[];
}

const root = new URL("..", import.meta.url);
const { name } = JSON.parse(
	readFileSync(new URL("package.json", root), "utf8"),
);

const npm = process.env.npm_execpath;
if (!npm) {
	process.stderr.write("Start this program with: npm run --silent sbom\n");
	process.exit(1);
}
const bom: Bom = JSON.parse(
	execFileSync(process.execPath, [npm, "sbom", "--sbom-format=cyclonedx"], {
		cwd: root,
		encoding: "utf8",
		maxBuffer: 64 << 20,
		stdio: ["ignore", "pipe", "ignore"],
	}),
);

const isForDevelopment = ({ properties = [] }: Component) =>
	properties.some(({ name }) => name === "cdx:npm:package:development");
bom.components = bom.components.filter((one) => !isForDevelopment(one));

const { component } = bom.metadata;
// npm fills in the name of the folder here, and calls it a library.
component.name = name;
component.type = "application";
const kept = new Set(
	[component, ...bom.components].map((one) => one["bom-ref"]),
);
bom.dependencies = bom.dependencies
	.filter(({ ref }) => kept.has(ref))
	.map(({ ref, dependsOn }) => ({
		ref,
		dependsOn: dependsOn.filter((other) => kept.has(other)),
	}));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
