// The runtime's loop, as small as it can be: Lambda's own does more.
import http from 'node:http';
import { handler } from './app.js';

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const [host, port] = (process.env.AWS_LAMBDA_RUNTIME_API as string).split(':');
const root = '/2018-06-01/runtime/invocation';

const ask = (method: string, path: string, body?: string): Promise<[http.IncomingHttpHeaders, string]> =>
  new Promise((resolve, reject) => {
    const request = http.request({ host, port, method, path, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve([response.headers, Buffer.concat(parts).toString()]));
    });
    request.on('error', reject);
    request.end(body);
  });

const main = async () => {
  for (;;) {
    const [headers, event] = await ask('GET', `${root}/next`);
    const id = headers['lambda-runtime-aws-request-id'] as string;
    const deadline = Number(headers['lambda-runtime-deadline-ms']);
    const context = {
      awsRequestId: id,
      functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
      memoryLimitInMB: '512',
      invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:bench',
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    const answer = await handler(JSON.parse(event), context);
    await ask('POST', `${root}/${id}/response`, JSON.stringify(answer));
  }
};

void main();
