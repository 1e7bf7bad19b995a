export { type Control, type ControlOperations, createControl, type OperationRequest } from './create-control.ts';
