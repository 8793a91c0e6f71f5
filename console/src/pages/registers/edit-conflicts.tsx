import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ShortValue } from "../../parts/records/field-value.tsx";
import {
	referencesIn,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownValue } from "../../parts/records/undecided.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { givenFields } from "./form-values.ts";

type Values = Record<string, unknown>;

/**
 * Returns the fields that another user has changed since `began` to a value that differs from ours.
 */
export function conflictsOf(
	kind: KindDescription,
	changes: Values,
	began: AnyRecord,
	latest: AnyRecord,
): FieldDescription[] {
	return givenFields(kind).filter(
		({ name }) =>
			name in changes &&
			!isSame(shownValue(latest, name), shownValue(began, name)) &&
			!isSame(shownValue(latest, name), changes[name]),
	);
}

interface Question {
	fields: FieldDescription[];
	mine: Values;
	latest: AnyRecord;
	/**
	 * Called with the names of the fields that keep the reader's values, or with null to return to
	 * the form.
	 */
	answer: (mine: string[] | null) => void;
}

/** Asks which values to save for fields that two users have changed at the same time. */
export function useConflictQuestion(
	kind: KindDescription,
	organizationId: string,
): {
	ask: (question: Omit<Question, "answer">) => Promise<string[] | null>;
	dialog: ReactNode;
} {
	const [question, setQuestion] = useState<Question | null>(null);
	const last = useRef(0);
	return {
		ask: (asked) =>
			new Promise((resolve) => {
				last.current++;
				setQuestion({
					...asked,
					answer: (mine) => {
						setQuestion(null);
						resolve(mine);
					},
				});
			}),
		dialog: question && (
			<Conflicts
				key={last.current}
				kind={kind}
				organizationId={organizationId}
				{...question}
			/>
		),
	};
}

function Conflicts({
	kind,
	organizationId,
	fields,
	mine,
	latest,
	answer,
}: Question & { kind: KindDescription; organizationId: string }) {
	useReturnFocus();
	const [chosen, setChosen] = useState<Record<string, string>>({});
	const names = useRecordNames(
		organizationId,
		referencesIn(kind, [latest, { ...latest, ...mine }]),
	);
	const isChosen = fields.every(({ name }) => chosen[name]);
	return (
		<Dialog
			opened
			onClose={() => answer(null)}
			size="lg"
			title="Somebody else has changed this record"
		>
			<Stack>
				<Text size="sm">
					<WhoSaved kind={kind} id={latest.id} fields={fields} /> Choose what to
					keep. Your changes are not saved yet.
				</Text>
				{fields.map((field) => (
					<Radio.Group
						key={field.name}
						label={field.label}
						value={chosen[field.name] ?? null}
						onChange={(side) => setChosen({ ...chosen, [field.name]: side })}
					>
						<Stack gap={6} mt={6}>
							{SIDES.map(({ side, label }) => (
								<Radio
									key={side}
									value={side}
									label={
										<Group gap={6} wrap="nowrap" align="flex-start">
											<Text span inherit c="dimmed" w={52} flex="none">
												{label}
											</Text>
											<ShortValue
												field={field}
												value={
													side === "mine"
														? mine[field.name]
														: shownValue(latest, field.name)
												}
												names={names}
											/>
										</Group>
									}
								/>
							))}
						</Stack>
					</Radio.Group>
				))}
				<Group justify="flex-end">
					<Button variant="default" onClick={() => answer(null)}>
						Back to the form
					</Button>
					<Button
						disabled={!isChosen}
						onClick={() =>
							answer(
								fields
									.map(({ name }) => name)
									.filter((name) => chosen[name] === "mine"),
							)
						}
					>
						Save
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}

/** Number of entries of the history in which the change is looked for. */
const LOOKED_AT = 20;

/** Says who has made the last change of one of the fields, and when. */
function WhoSaved({
	kind,
	id,
	fields,
}: {
	kind: KindDescription;
	id: string;
	fields: readonly FieldDescription[];
}) {
	const { data } = useQuery({
		...operationQuery("getRecordHistory", { id, size: LOOKED_AT }),
		// The change is newer than a history that was read before.
		refetchOnMount: "always",
	});
	const entry = data?.changes.find(({ changes }) =>
		fields.some(({ name }) => name in changes),
	);
	if (!entry) {
		return `Since you opened the form, the ${kind.noun} was saved by somebody else or in another tab.`;
	}
	return (
		<>
			Since you opened the form, <b>{entry.actor_name}</b> has saved the{" "}
			{kind.noun} (<DateTime value={entry.at} />
			).
		</>
	);
}

const SIDES = [
	{ side: "theirs", label: "Theirs" },
	{ side: "mine", label: "Yours" },
];

function isSame(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
