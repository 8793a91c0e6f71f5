import { Button, Code, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBraces } from "@tabler/icons-react";
import { Fragment, useId } from "react";
import styles from "../../parts/devices/postures.module.css";
import { inWords } from "../../parts/names-in-words.ts";
import { evidenceInWords } from "./evidence-words.ts";

type Json = Record<string, unknown>;

/** Shows the evidence of a result in readable form and, if the reader wants, as JSON. */
export function Evidence({
	evidence,
	checkName,
}: {
	evidence: Json | null | undefined;
	checkName: string;
}) {
	const [isRaw, { toggle }] = useDisclosure();
	const id = useId();
	if (!evidence || Object.keys(evidence).length === 0) {
		return (
			<Text size="sm" c="dimmed">
				The agent sent no evidence, or its report is no longer kept.
			</Text>
		);
	}
	return (
		<Stack gap="xs" align="flex-start">
			<div id={id} style={{ width: "100%" }}>
				{isRaw ? (
					<Code
						block
						tabIndex={0}
						aria-label={`Evidence as sent: ${checkName}`}
						style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
					>
						{JSON.stringify(evidence, null, 2)}
					</Code>
				) : (
					<Pairs value={evidence} />
				)}
			</div>
			<Button
				variant="subtle"
				size="compact-xs"
				px={0}
				aria-expanded={isRaw}
				aria-controls={id}
				leftSection={<IconBraces size={14} aria-hidden />}
				onClick={toggle}
			>
				{isRaw ? "Readable" : "As sent (JSON)"}
			</Button>
		</Stack>
	);
}

function Pairs({ value }: { value: Json }) {
	return (
		<dl className={styles.evidence}>
			{Object.entries(value).map(([name, inner]) => (
				<Fragment key={name}>
					<dt>{inWords(name)}</dt>
					<dd>
						<Value value={inner} />
					</dd>
				</Fragment>
			))}
		</dl>
	);
}

function Value({ value }: { value: unknown }) {
	if (value === null || value === undefined || value === "") return <>–</>;
	if (typeof value === "boolean") return <>{value ? "Yes" : "No"}</>;
	if (typeof value !== "object") return <>{evidenceInWords(value)}</>;
	if (!Array.isArray(value)) {
		return Object.keys(value).length > 0 ? (
			<Pairs value={value as Json} />
		) : (
			<>–</>
		);
	}
	if (value.length === 0) return <>None</>;
	if (value.every((one) => typeof one !== "object" || one === null)) {
		return <>{value.map(evidenceInWords).join(", ")}</>;
	}
	return (
		<Stack gap="xs">
			{value.map((one, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: what was reported never changes.
				<Value key={index} value={one} />
			))}
		</Stack>
	);
}
