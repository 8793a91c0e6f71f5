import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { NOW } from "../../past.ts";

/** What the page of a record has only in the present, by the kind of the record. */
const LEFT_OUT: Record<string, string> = {
	evidence: "the comments, and the file if the evidence was deleted since",
	nonconformity: "which of its devices failed, and the comments",
	people: "the person's devices and the comments",
	vendor: "the reviews and the comments",
};

/** Says what the page of a record leaves out on a past day, and leads to where it is. */
export function LeftOutInPast({ kind }: { kind: string }) {
	return (
		<Text size="sm">
			This page of a past day leaves out {LEFT_OUT[kind] ?? "the comments"}.{" "}
			<Anchor
				component={Link}
				to="."
				search={((before: object) => ({ ...before, as_of: NOW })) as never}
			>
				Show the page of today
			</Anchor>
		</Text>
	);
}
