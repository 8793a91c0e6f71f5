import type { UseFormReturnType } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError } from "../api.ts";
import { applyServerErrors } from "./server-errors.ts";
import { unfinishedDates } from "./unfinished-dates.ts";

/**
 * Saves a form. Messages from the server are shown beside the fields that they name. `refusal`
 * holds the rest, which concerns the form as a whole. A form that is being saved is not sent again,
 * and neither is one with a date that is only partly filled in.
 */
export function useSaving<Values extends Record<string, unknown>, Result>(
	form: UseFormReturnType<Values>,
	save: (values: Values) => Promise<Result>,
	onSaved: (result: Result) => unknown,
) {
	const [refusal, setRefusal] = useState<ApiError | null>(null);
	// The state of the mutation is known only after the next render.
	const isBusy = useRef(false);
	const saving = useMutation({
		mutationFn: save,
		onSuccess: onSaved,
		onError: (error) => {
			const rest = applyServerErrors(form, error, Object.keys(form.values));
			setRefusal(rest ? refusalOf(error, rest) : null);
		},
		onSettled: () => {
			isBusy.current = false;
		},
	});
	return {
		refusal,
		isSaving: saving.isPending,
		submit: form.onSubmit((values, event) => {
			if (isBusy.current) return;
			const unfinished = unfinishedDates(event?.currentTarget);
			if (Object.keys(unfinished).length > 0) {
				form.setErrors(unfinished);
				return;
			}
			isBusy.current = true;
			setRefusal(null);
			saving.mutate(values);
		}),
		/** Resets the values and the errors to the state before the user typed. */
		clear: () => {
			form.reset();
			setRefusal(null);
		},
	};
}

/**
 * Returns the error for the form as a whole, without the messages beside fields. It tells whether a
 * retry may help.
 */
export function refusalOf(error: unknown, rest: string): ApiError {
	return error instanceof ApiError
		? new ApiError(error.status, error.code, rest)
		: new ApiError(400, "refused", rest);
}
