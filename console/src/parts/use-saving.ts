import type { UseFormReturnType } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { applyServerErrors } from "./server-errors.ts";

/**
 * Saves a form: the server's refusals are put beside the fields they name, and what is left
 * is `refusal`, for the form as a whole.
 */
export function useSaving<Values extends Record<string, unknown>, Result>(
	form: UseFormReturnType<Values>,
	save: (values: Values) => Promise<Result>,
	onSaved: (result: Result) => unknown,
) {
	const [refusal, setRefusal] = useState<ApiError | null>(null);
	const saving = useMutation({
		mutationFn: save,
		onSuccess: onSaved,
		onError: (error) => {
			const rest = applyServerErrors(form, error, Object.keys(form.values));
			setRefusal(rest ? refusalOf(error, rest) : null);
		},
	});
	return {
		refusal,
		isSaving: saving.isPending,
		submit: form.onSubmit((values) => {
			setRefusal(null);
			saving.mutate(values);
		}),
		/** As before anybody typed. */
		clear: () => {
			form.reset();
			setRefusal(null);
		},
	};
}

/** What is left of an error when its fields have their messages: also whether it may pass. */
export function refusalOf(error: unknown, rest: string): ApiError {
	return error instanceof ApiError
		? new ApiError(error.status, error.code, rest)
		: new ApiError(400, "refused", rest);
}
