import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { CORRECTION_MINUTES } from "../../../../src/comments/correction-time.ts";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings, meQuery } from "../../queries.ts";
import { Confirm } from "../confirm.tsx";
import { ErrorState } from "../error-state.tsx";
import { useLeaveGuard } from "../leave-guard.tsx";
import { DateTime } from "../time.tsx";
import { useSaving } from "../use-saving.ts";
import { CommentFields, isWritten } from "./comment-fields.tsx";

type Comment = OutputOf<"listComments">["comments"][number];

/**
 * Shows a comment. Its author may correct it for a while. The author and administrators delete it.
 */
export function OneComment({ comment }: { comment: Comment }) {
	const { mayAdmin, mayWrite } = useOrganization();
	const { data: me } = useQuery(meQuery);
	const [isDeleting, setDeleting] = useState(false);
	const [isEditing, setEditing] = useState(false);
	const isOwn = mayWrite && comment.author_id === me?.id;
	const whose = isOwn
		? "your comment"
		: `the comment of ${comment.author_name}`;
	return (
		<article aria-label={`Comment of ${comment.author_name}`}>
			<Group gap="xs" justify="space-between">
				<Text size="sm">
					<Text span fw={500} inherit>
						{comment.author_name}
					</Text>{" "}
					<Text span c="dimmed" inherit>
						<DateTime value={comment.created_at} />
						{comment.mentioned.length > 0 &&
							`, to ${comment.mentioned.map(({ name }) => name).join(", ")}`}
						{comment.edited_at && (
							<>
								, edited <DateTime value={comment.edited_at} />
							</>
						)}
					</Text>
				</Text>
				<Group gap={4}>
					{isOwn && !isEditing && isRecent(comment) && (
						<Button
							variant="subtle"
							color="gray"
							size="compact-xs"
							aria-label="Edit your comment"
							onClick={() => setEditing(true)}
						>
							Edit
						</Button>
					)}
					{(mayAdmin || isOwn) && (
						<Button
							variant="subtle"
							color="gray"
							size="compact-xs"
							aria-label={`Delete ${whose}`}
							onClick={() => setDeleting(true)}
						>
							Delete
						</Button>
					)}
				</Group>
			</Group>
			{isEditing ? (
				<EditComment comment={comment} onClose={() => setEditing(false)} />
			) : (
				<Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
					{comment.text}
				</Text>
			)}
			{isDeleting && (
				<Confirm
					opened
					onClose={() => setDeleting(false)}
					title={isOwn ? "Delete your comment?" : "Delete the comment?"}
					action="Delete the comment"
					onConfirm={async () => {
						await call(isOwn ? "withdrawComment" : "deleteComment", {
							id: comment.id,
						});
						await forgetReadings();
					}}
				>
					The history of the record still shows it.
				</Confirm>
			)}
		</article>
	);
}

/**
 * The service decides. The console only hides the button when the service would reject the call.
 */
function isRecent({ created_at }: Comment): boolean {
	const age = Date.now() - Date.parse(created_at);
	return age < CORRECTION_MINUTES * 60_000;
}

function EditComment({
	comment,
	onClose,
}: {
	comment: Comment;
	onClose: () => void;
}) {
	const form = useForm({
		initialValues: {
			text: comment.text,
			mentioned_user_ids: comment.mentioned.map(({ user_id }) => user_id),
		},
		validate: { text: isWritten },
	});
	const saving = useSaving(
		form,
		({ text, mentioned_user_ids }) =>
			call("updateComment", {
				id: comment.id,
				text: text.trim(),
				mentioned_user_ids,
			}),
		async () => {
			await forgetReadings();
			onClose();
		},
	);
	const element = useRef<HTMLFormElement>(null);
	const question = useLeaveGuard({
		area: element,
		isNeeded: () => form.isDirty(),
		isSaving: saving.isSaving,
	});
	return (
		<form
			ref={element}
			noValidate
			aria-label="Edit your comment"
			onSubmit={saving.submit}
		>
			{question}
			<Stack gap="sm">
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<CommentFields form={form} mentioned={comment.mentioned}>
					<Group gap="xs">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Save
						</Button>
					</Group>
				</CommentFields>
				<Text size="sm" c="dimmed">
					You can correct a comment for {CORRECTION_MINUTES} minutes. The
					history of the record keeps both texts.
				</Text>
			</Stack>
		</form>
	);
}
